"""The process that bots are forked from: small and with one thread.

``spawner`` starts it and asks for births over a socket; it knows nothing of this
project and needs only the standard library. Forking the worker itself would cost 20 ms
for its size, and run our code in a copy of a process with many threads.

Who is born is a child of the worker (``CLONE_PARENT``), and dies with it. It is born
in its control group of version 2 (``CLONE_INTO_CGROUP``) and enters those of version 1
by itself: moving another process makes the kernel wait for all its processors (an RCU
grace period, some 15 ms). Then it waits, at a socket of its own, for the order that
says what it is to become.
"""

import contextlib
import gc
import json
import os
import resource
import select
import signal
import socket
import struct
import sys
from typing import Any, NoReturn

from ladder.runner.zygote import keeper, landlock, namespaces
from ladder.runner.zygote.calls import (
    DIE_WITH,
    NO_NEW_PRIVS,
    call,
    load_filter,
    prctl,
    rename,
    write,
)

ORDER_BYTES = 1 << 17
MOST_FDS = 16
_FIRST_FREE = 3 + MOST_FDS
"""Descriptors of orders get numbers from here, so that moving them hits none."""
_PARENT, _INTO_CGROUP = 0x8000, 0x2_0000_0000
_CLONE3 = 435
_CLONE = {"x86_64": 56, "aarch64": 220, "riscv64": 220, "ppc64le": 120}
_NOT_STARTED = 127

_places: list[int] = []


def main() -> None:
    """Serve orders as long as the worker wants; clear up if it is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.disable()  # what it makes has no cycles, and a child must not look for any
    rename(b"torres-zygote")
    door = socket.socket(fileno=int(sys.argv[1]))
    door.set_inheritable(False)
    while (spare := os.open("/dev/null", os.O_RDWR)) < _FIRST_FREE:
        pass
    os.close(spare)
    try:
        _serve(door)
    except ConnectionError:
        _sweep()


def _serve(door: socket.socket) -> None:
    """Serve until a message is empty. Raises ConnectionError if the worker is gone."""
    worker = _Parent(os.getppid())
    while True:
        birth, fds = _receive(door)
        if birth is None:
            raise ConnectionError
        if not birth:
            return
        try:
            answer = _bear(birth, fds, worker)
        except OSError as why:
            answer = -(why.errno or 1)
        for fd in fds[1:]:
            os.close(fd)
        with socket.socket(fileno=fds[0]) as its, contextlib.suppress(OSError):
            its.send(struct.pack("i", answer))


def _receive(door: socket.socket) -> tuple[dict[str, Any] | None, list[int]]:
    """Return a message with its descriptors; None if nobody is there any more."""
    try:
        said, fds, _, _ = socket.recv_fds(door, ORDER_BYTES, MOST_FDS)
    except ConnectionError:  # gone, with what we said still unread
        return None, []
    return (json.loads(said) if said else None), fds


def _sweep() -> None:
    """End what is left in the worker's control groups, which nobody else may do now.

    A bwrap that is killed while it makes a box leaves a child that waits for it.
    """
    for place in _places:
        for group in os.scandir(place):
            with contextlib.suppress(OSError):
                write(f"{group.name}/cgroup.kill", b"1", place)


class _Parent:
    """Whose end is the end of a process: the worker, or the keeper of one bot."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        # In a process namespace of its own nobody can ask for a parent's id.
        self._fd = os.pidfd_open(pid) if hasattr(os, "pidfd_open") else -1

    def take_along(self) -> None:
        """Let this process die with it, now if it is dead."""
        prctl(DIE_WITH, signal.SIGKILL)
        gone = os.getppid() not in {0, self.pid}
        if self._fd >= 0:
            poll = select.poll()
            poll.register(self._fd, select.POLLIN)
            gone = gone or bool(poll.poll(0))
        if gone:
            os._exit(_NOT_STARTED)


def _bear(birth: dict[str, Any], fds: list[int], worker: _Parent) -> int:
    """Fork a process that waits for its order, and return its id."""
    flags = 0
    if birth["common"] is not None:
        namespaces.prepare(**birth["common"])
        flags = namespaces.BORN_IN
    door, *groups = fds
    place = groups.pop(0) if birth["placed"] else None
    pid, born = _fork(place, flags)
    if pid:
        return pid
    try:
        if place is not None and not born:
            write("cgroup.procs", b"0", place)
        for file in groups:
            os.write(file, b"0")
        for fd in fds[1:]:
            os.close(fd)
        rename(b"torres-bot")
        worker.take_along()
        _live(socket.socket(fileno=door), worker)
    except BaseException as why:  # noqa: BLE001 - a copy of this process must not live
        os.write(2, f"nothing was started: {why}\n".encode())
    finally:
        os._exit(_NOT_STARTED)


def _live(door: socket.socket, worker: _Parent) -> None:
    """Wait for the order, and become what it says. Returns if there is none."""
    order, files = _receive(door)
    if order is None:
        return
    door.close()
    for number, fd in enumerate(files):
        os.dup2(fd, number)
        os.close(fd)
    try:
        _become(order, worker)
    except OSError as why:
        os.write(2, f"{order['argv'][0]} was not started: {why}\n".encode())


def _become(order: dict[str, Any], worker: _Parent) -> NoReturn:
    """Turn this process into what was ordered, held as it was ordered."""
    boxed, confined = order["boxed"], order["confined"]
    if boxed is not None:
        namespaces.furnish(**boxed)
    if confined is not None:
        worker = _Parent(keeper.keep(worker.pid, _FIRST_FREE))
    os.setsid()
    _restrain(order)
    if boxed is not None:
        namespaces.hide(order["uid"])
    # After the last change of the user, which undoes it.
    worker.take_along()
    os.chdir(order["cwd"])
    if confined is not None:
        landlock.confine(**confined)
    if order["filtered"]:
        _filter()
    if boxed is not None:
        keeper.stand_in_front(order["argv"], order["env"])
    os.execve(order["argv"][0], order["argv"], order["env"])  # noqa: S606


def _fork(group: int | None, flags: int) -> tuple[int, bool]:
    """Fork a child of our parent; return its id, and whether it is in ``group``."""
    if group is None:
        return _clone(flags), False
    if not _places:  # all groups are in one folder
        _places.append(os.open("..", os.O_RDONLY | os.O_CLOEXEC, dir_fd=group))
    try:
        # struct clone_args: flags, eight fields that are 0 for a fork, …, cgroup
        words = struct.pack("11Q", _PARENT | _INTO_CGROUP | flags, *[0] * 9, group)
        return call(_CLONE3, words, len(words)), True
    except OSError:  # an older kernel, or a container that does not allow it
        return _clone(flags), False


def _clone(flags: int) -> int:
    number = _CLONE[os.uname().machine]
    return call(number, _PARENT | signal.SIGCHLD | flags, 0, 0, 0, 0)


def _restrain(order: dict[str, Any]) -> None:
    for number, most in order["rlimits"]:
        resource.setrlimit(number, (most, most))
    if (uid := order["uid"]) is not None:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT):  # Python ignores
        signal.signal(number, signal.SIG_DFL)


def _filter() -> None:
    """Load the filter that is in descriptor 4, and say so by taking a byte from 3."""
    prctl(NO_NEW_PRIVS, 1)
    load_filter(4)
    os.close(4)
    os.read(3, 1)
    os.close(3)
