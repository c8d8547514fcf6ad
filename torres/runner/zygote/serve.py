"""The zygote: a small process with one thread, from which all bots are forked.

``spawner`` starts it and sends it requests over a socket. The zygote knows nothing of
the rest of the project and imports only the standard library. Forking the worker
itself would take 20 ms because of its size, and would run our code in a copy of a
process that has many threads.

A forked process is a child of the worker, not of the zygote (``CLONE_PARENT``), and
dies with the worker. It starts in its cgroup of version 2 (``CLONE_INTO_CGROUP``) and
enters its cgroups of version 1 itself, because moving another process makes the kernel
wait for all its processors (an RCU grace period, about 15 ms). Then it waits on a
socket for the order that names the program to execute.
"""

import contextlib
import gc
import os
import resource
import select
import signal
import socket
import struct
import sys
from typing import NoReturn

from torres.runner.zygote import landlock, messages, namespaces, supervisor, syscalls

_FIRST_FREE_FD = 3 + messages.MAX_FDS
"""Received descriptors get numbers from here on, so that ``dup2`` to the final numbers
overwrites none of them."""
_CLONE_PARENT = 0x8000
_CLONE_INTO_CGROUP = 0x2_0000_0000
_CLONE3 = 435
_CLONE = {"x86_64": 56, "aarch64": 220, "riscv64": 220, "ppc64le": 120}
_EXIT_NOT_STARTED = 127
_READY_FD = 3
"""The process reads a byte from here when its seccomp filter is loaded."""
_FILTER_FD = 4

_cgroup_parents: list[int] = []
"""At most one descriptor: the folder that contains all cgroups of the worker's bots."""


def main() -> None:
    """Serve requests until the worker says quit; clean up if the worker dies."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Our objects form no cycles, and a collection in a fork would copy its pages.
    gc.disable()
    syscalls.set_command_line(b"torres-zygote")
    worker_socket = socket.socket(fileno=int(sys.argv[1]))
    worker_socket.set_inheritable(False)
    _reserve_low_fds()
    try:
        _serve(worker_socket)
    except ConnectionError:
        _kill_cgroups()


def _reserve_low_fds() -> None:
    """Open /dev/null until no descriptor below ``_FIRST_FREE_FD`` is free."""
    while True:
        fd = os.open("/dev/null", os.O_RDWR)
        if fd >= _FIRST_FREE_FD:
            os.close(fd)
            return


def _serve(worker_socket: socket.socket) -> None:
    """Serve requests until ``QUIT``. Raises ConnectionError if the worker is dead.

    The answer to a request is the PID of the new process, or a negative errno.
    """
    worker = _Parent(os.getppid())
    while True:
        data, fds = _receive(worker_socket)
        if not data:
            raise ConnectionError
        if data == messages.QUIT:
            return
        try:
            answer = _fork_process(messages.ForkRequest.decode(data), fds, worker)
        except OSError as why:
            answer = -(why.errno or 1)
        for fd in fds[1:]:
            os.close(fd)
        with (
            socket.socket(fileno=fds[0]) as order_socket,
            contextlib.suppress(OSError),
        ):
            order_socket.send(struct.pack("i", answer))


def _receive(connection: socket.socket) -> tuple[bytes, list[int]]:
    """Return a message and its descriptors; an empty message if the peer is gone."""
    try:
        data, fds, _, _ = socket.recv_fds(
            connection, messages.MAX_MESSAGE_BYTES, messages.MAX_FDS
        )
    except ConnectionError:  # The peer closed without reading all our answers.
        return b"", []
    return data, fds


def _kill_cgroups() -> None:
    """Kill everything in the dead worker's cgroups; no other process can do it now.

    For example, a bwrap that is killed while it sets up a sandbox leaves a child that
    waits for it.
    """
    for parent in _cgroup_parents:
        for group in os.scandir(parent):
            with contextlib.suppress(OSError):
                syscalls.write_file(f"{group.name}/cgroup.kill", b"1", parent)


class _Parent:
    """A process that takes its child with it when it dies.

    It is the worker, or, under Landlock, the supervisor of one bot.
    """

    def __init__(self, pid: int) -> None:
        self.pid = pid
        # In a new PID namespace, getppid returns 0 for a parent outside. The pidfd
        # tells even there whether the parent is alive.
        self._fd = os.pidfd_open(pid) if hasattr(os, "pidfd_open") else -1

    def kill_us_on_exit(self) -> None:
        """Have the kernel kill this process when the parent exits.

        If the parent is dead already, exit now.
        """
        syscalls.prctl(syscalls.PR_SET_PDEATHSIG, signal.SIGKILL)
        dead = os.getppid() not in {0, self.pid}
        if self._fd >= 0:
            poll = select.poll()
            poll.register(self._fd, select.POLLIN)
            dead = dead or bool(poll.poll(0))
        if dead:
            os._exit(_EXIT_NOT_STARTED)


def _fork_process(
    request: messages.ForkRequest, fds: list[int], worker: _Parent
) -> int:
    """Fork a process that waits for its order, and return its PID."""
    flags = 0
    if request.root is not None:
        namespaces.prepare_root(request.root)
        flags = namespaces.CLONE_FLAGS
    order_fd, *cgroup_fds = fds
    group = cgroup_fds.pop(0) if request.into_cgroup else None
    pid, in_group = _clone_into(group, flags)
    if pid:
        return pid
    try:
        if group is not None and not in_group:
            syscalls.write_file("cgroup.procs", b"0", group)
        for tasks in cgroup_fds:
            os.write(tasks, b"0")
        for fd in fds[1:]:
            os.close(fd)
        syscalls.set_command_line(b"torres-bot")
        worker.kill_us_on_exit()
        _wait_for_order(socket.socket(fileno=order_fd), worker)
    except BaseException as why:  # noqa: BLE001 - this copy of the zygote must not live
        os.write(2, f"The process could not be prepared: {why}\n".encode())
    finally:
        os._exit(_EXIT_NOT_STARTED)


def _wait_for_order(order_socket: socket.socket, worker: _Parent) -> None:
    """Wait for the order and execute it. Return if the worker sends none."""
    data, fds = _receive(order_socket)
    if not data:
        return
    order = messages.SpawnOrder.decode(data)
    order_socket.close()
    for number, fd in enumerate(fds):
        # A bot, or bwrap, must not be able to write its own status.
        os.dup2(fd, number, inheritable=number != messages.STATUS_FD)
        os.close(fd)
    try:
        _exec(order, worker)
    except OSError as why:
        os.write(2, f"{order.argv[0]} could not be started: {why}\n".encode())


def _exec(order: messages.SpawnOrder, worker: _Parent) -> NoReturn:
    """Restrict this process as the order says, then execute the program.

    The order of the steps matters: the priority needs a writable /proc; mounts need
    root; a change of the user undoes the death signal; the filter comes last, because
    it refuses most of the calls above.
    """
    if order.paths is not None:
        pid = supervisor.fork_under_supervisor(worker.pid, _FIRST_FREE_FD)
        worker = _Parent(pid)
    os.setsid()
    if order.niceness:
        _lower_priority(order.niceness)
    proc_self = -1
    if order.mounts is not None:
        proc_self = namespaces.enter_root(order.mounts)
    _apply_limits_and_user(order)
    if order.mounts is not None:
        assert order.uid is not None
        namespaces.become_nobody(order.uid, proc_self)
        landlock.hide_proc()
    # After the last change of the user, which resets the death signal.
    worker.kill_us_on_exit()
    os.chdir(order.cwd)
    if order.paths is not None:
        landlock.restrict(order.paths.reads, order.paths.writes)
    if order.seccomp:
        _load_filter()
    argv, env = list(order.argv), dict(order.env)
    if order.mounts is not None:
        supervisor.supervise(argv, env)
    os.execve(argv[0], argv, env)  # noqa: S606


def _lower_priority(niceness: int) -> None:
    """Let other processes have the processors first.

    A kernel with autogroups shares the processors between sessions, and a niceness
    counts only within one. So this sets that of our new session, too.
    """
    os.nice(niceness)
    with contextlib.suppress(OSError):  # This kernel has no autogroups.
        syscalls.write_file("/proc/self/autogroup", str(niceness).encode())


def _clone_into(group: int | None, flags: int) -> tuple[int, bool]:
    """Fork a sibling: a child of our parent.

    ``group`` is the open folder of a cgroup of version 2. Return the PID, which is 0
    in the child, and whether the child started in ``group``.
    """
    if group is None:
        return _clone(flags), False
    if not _cgroup_parents:  # All cgroups of the bots are in the same folder.
        _cgroup_parents.append(os.open("..", os.O_RDONLY | os.O_CLOEXEC, dir_fd=group))
    try:
        # struct clone_args: flags, nine fields that are 0 for a fork, cgroup.
        clone_flags = _CLONE_PARENT | _CLONE_INTO_CGROUP | flags
        arguments = struct.pack("11Q", clone_flags, *[0] * 9, group)
        return syscalls.syscall(_CLONE3, arguments, len(arguments)), True
    except OSError:  # An older kernel, or a container that forbids the call.
        return _clone(flags), False


def _clone(flags: int) -> int:
    number = _CLONE[os.uname().machine]
    return syscalls.syscall(number, _CLONE_PARENT | signal.SIGCHLD | flags, 0, 0, 0, 0)


def _apply_limits_and_user(order: messages.SpawnOrder) -> None:
    """Set the rlimits, change to the user of the order, and reset signal handlers."""
    for number, limit in order.rlimits:
        resource.setrlimit(number, (limit, limit))
    uid = order.uid
    if uid is not None:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    # Python ignores the first two, and the zygote the third; a program expects none.
    for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)


def _load_filter() -> None:
    """Load the seccomp filter, and report that by reading the byte."""
    syscalls.prctl(syscalls.PR_SET_NO_NEW_PRIVS, 1)
    syscalls.load_seccomp_filter(_FILTER_FD)
    os.close(_FILTER_FD)
    os.read(_READY_FD, 1)
    os.close(_READY_FD)
