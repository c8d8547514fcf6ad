"""The process that bots are forked from: small and with one thread.

``spawner`` starts it and sends orders over a socket; it knows nothing of this project
and needs only the standard library. Forking the worker itself would cost 20 ms for
its size, and run our code in a copy of a process with many threads.

What it starts is a child of the worker (``CLONE_PARENT``), and dies with it. It is born
in its control group of version 2 (``CLONE_INTO_CGROUP``) and enters those of version 1
by itself: moving another process makes the kernel wait for all its processors (an RCU
grace period, some 15 ms).

Without Bubblewrap a keeper stands between the worker and the bot. All that the bot
leaves behind falls to the keeper (it is a subreaper), which ends it.
"""

import contextlib
import ctypes
import gc
import json
import os
import resource
import signal
import socket
import stat
import struct
import sys
from pathlib import Path
from typing import Any, NoReturn

ORDER_BYTES = 1 << 17
MOST_FDS = 8
_FIRST_FREE = 3 + MOST_FDS
"""Descriptors of orders get numbers from here, so that moving them hits none."""
_PARENT, _INTO_CGROUP = 0x8000, 0x2_0000_0000
_CLONE3 = 435
_CLONE = {"x86_64": 56, "aarch64": 220, "riscv64": 220, "ppc64le": 120}
_PR_SET_PDEATHSIG, _PR_SET_SECCOMP, _PR_SET_CHILD_SUBREAPER = 1, 22, 36
_PR_SET_NO_NEW_PRIVS = 38
_SECCOMP_FILTER = 2
_NOT_STARTED = 127
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION, _PATH_BENEATH = 1, 1
_READ, _READ_FOLDER, _WRITE = 0b1101, 0b1000, 0b0110
"""Rights of Landlock: to execute, read files and list; to list; to write and read."""
_libc = ctypes.PyDLL(None, use_errno=True)  # holds the interpreter's lock


def main() -> None:
    """Serve orders as long as the worker wants; clear up if it is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.disable()  # what it makes has no cycles, and a child must not look for any
    door = socket.socket(fileno=int(sys.argv[1]))
    door.set_inheritable(False)
    while (spare := os.open("/dev/null", os.O_RDWR)) < _FIRST_FREE:
        pass
    os.close(spare)
    places: set[Path] = set()
    try:
        _serve(door, places)
    except ConnectionError:
        _sweep(places)


def _serve(door: socket.socket, places: set[Path]) -> None:
    """Serve orders until one is empty. Raises ConnectionError if the worker is gone."""
    worker = os.getppid()
    while True:
        said, fds, _, _ = socket.recv_fds(door, ORDER_BYTES, MOST_FDS)
        if not said:
            raise ConnectionError
        if not (order := json.loads(said)):
            return
        places |= {Path(group).parent for group in [order["born_in"]] if group}
        try:
            answer = _spawn(order, fds, worker)
        except OSError as why:
            answer = -(why.errno or 1)
        for fd in fds:
            os.close(fd)
        door.send(struct.pack("i", answer))


def _sweep(places: set[Path]) -> None:
    """End what is left in the worker's control groups, which nobody else may do now.

    A bwrap that is killed while it makes a box leaves a child that waits for it.
    """
    for switch in [file for place in places for file in place.glob("*/cgroup.kill")]:
        with contextlib.suppress(OSError):
            switch.write_text("1")


def landlock_version() -> int:
    """Return the version of the kernel's Landlock; 0 if it has none."""
    try:
        return call(_CREATE_RULESET, None, 0, _VERSION)
    except OSError:
        return 0


def call(number: int, *arguments: Any) -> int:  # noqa: ANN401
    """Make a system call. Raises OSError."""
    answer = _libc.syscall(number, *arguments)
    if answer == -1:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return int(answer)


def _spawn(order: dict[str, Any], fds: list[int], worker: int) -> int:
    """Start what is ordered and return its process id."""
    pid, born = _fork(order["born_in"])
    if pid:
        return pid
    try:
        late = [] if born else [f"{order['born_in']}/cgroup.procs"]
        for path in [*order["enters"], *late]:
            _write(path, b"0")
        for number, fd in enumerate(fds):
            os.dup2(fd, number)
            os.close(fd)
        if order["confined"] is not None:
            worker = _keep(worker)
        os.setsid()
        _restrain(order, worker)
        os.chdir(order["cwd"])
        if order["confined"] is not None:
            _confine(**order["confined"])
        os.execve(order["argv"][0], order["argv"], order["env"])  # noqa: S606
    except BaseException as why:  # noqa: BLE001 - a copy of this process must not live
        os.write(2, f"{order['argv'][0]} was not started: {why}\n".encode())
    finally:
        os._exit(_NOT_STARTED)


def _fork(group: str | None) -> tuple[int, bool]:
    """Fork a child of our parent; return its id, and whether it is in ``group``."""
    if group is None:
        return _clone(), True
    try:
        folder = os.open(group, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            # struct clone_args: flags, eight fields that are 0 for a fork, …, cgroup
            words = struct.pack("11Q", _PARENT | _INTO_CGROUP, *[0] * 9, folder)
            return call(_CLONE3, words, len(words)), True
        finally:
            os.close(folder)
    except OSError:  # an older kernel, or a container that does not allow it
        return _clone(), False


def _clone() -> int:
    return call(_CLONE[os.uname().machine], _PARENT | signal.SIGCHLD, 0, 0, 0, 0)


def _restrain(order: dict[str, Any], parent: int) -> None:
    for number, most in order["rlimits"]:
        resource.setrlimit(number, (most, most))
    if (uid := order["uid"]) is not None:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT):  # Python ignores
        signal.signal(number, signal.SIG_DFL)
    # Last, because a change of the user undoes it.
    _die_with(parent, signal.SIGKILL)


def _die_with(parent: int, how: int) -> None:
    _libc.prctl(_PR_SET_PDEATHSIG, how, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(_NOT_STARTED)


# --- what Bubblewrap does elsewhere


class _Enough(BaseException):
    """The keeper was told to end."""


def _keep(worker: int) -> int:
    """Fork the bot and return the keeper's id in it; the keeper never returns."""
    os.setsid()
    keeper = os.getpid()
    signal.signal(signal.SIGTERM, _stop)
    _die_with(worker, signal.SIGTERM)
    _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    if bot := os.fork():
        _wait_for(bot)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    return keeper


def _stop(*_: object) -> NoReturn:
    raise _Enough


def _wait_for(bot: int) -> NoReturn:
    """Wait for the bot, end what it leaves behind, and exit as it did."""
    pid, status = 0, int(signal.SIGKILL)
    try:
        os.closerange(0, _FIRST_FREE)  # else its pipes never end
        while pid != bot:
            pid, status = os.waitpid(-1, 0)
    except _Enough:
        pass
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        while children := _descendants(os.getpid()):
            for child in children:
                with contextlib.suppress(OSError):
                    os.kill(child, signal.SIGKILL)
            with contextlib.suppress(OSError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
        code = os.waitstatus_to_exitcode(status)
        os._exit(code if code >= 0 else 128 - code)


def _descendants(root: int) -> list[int]:
    found = [root]
    for pid in found:  # grows while it is read
        with contextlib.suppress(OSError):
            for task in Path(f"/proc/{pid}/task").iterdir():
                found += map(int, (task / "children").read_text().split())
    return found[1:]


def _confine(reads: list[str], writes: list[str]) -> None:
    """Let this process reach nothing but these paths, and make only the filter's calls.

    The filter of seccomp is in descriptor 4; a byte is taken from 3 when it is loaded.
    """
    code = os.pread(4, 1 << 16, 0)
    os.close(4)
    _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    version = landlock_version()
    # All rights to files, TCP, abstract sockets and signals, as far as it knows them.
    files = (1 << (13, 14, 15, 15, 16)[min(version, 5) - 1]) - 1
    size = 8 if version < 4 else 16 if version < 6 else 24  # noqa: PLR2004
    handled = struct.pack("3Q", files, 0b11, 0b11)[:size]
    ruleset = call(_CREATE_RULESET, handled, size, 0)
    for paths, rights in ((reads, _READ), (writes, _WRITE)):
        for path in paths:
            _allow(ruleset, path, rights)
    call(_RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)
    kept = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("HxxxxxxQ", len(code) // 8, ctypes.addressof(kept))
    if _libc.prctl(_PR_SET_SECCOMP, _SECCOMP_FILTER, program, 0, 0):
        raise OSError(ctypes.get_errno(), "the filter could not be loaded")
    os.read(3, 1)
    os.close(3)


def _allow(ruleset: int, path: str, rights: int) -> None:
    fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        if not stat.S_ISDIR(os.fstat(fd).st_mode):
            rights &= ~_READ_FOLDER
        rule = struct.pack("=Qi", rights, fd)
        call(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0)
    finally:
        os.close(fd)


def _write(path: str, content: bytes) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(fd, content)
    finally:
        os.close(fd)


if __name__ == "__main__":
    main()
