"""The process that bots are forked from: small and with one thread.

``spawner`` starts it and sends orders over a socket; it knows nothing of this project
and needs only the standard library. Forking the worker itself would cost 20 ms for
its size, and run our code in a copy of a process with many threads.

What it starts is a child of the worker (``CLONE_PARENT``), and dies with it. It is born
in its control group of version 2 (``CLONE_INTO_CGROUP``) and enters those of version 1
by itself: moving another process makes the kernel wait for all its processors (an RCU
grace period, some 15 ms).
"""

import ctypes
import gc
import json
import os
import resource
import signal
import socket
import struct
import sys
from typing import Any

ORDER_BYTES = 1 << 17
MOST_FDS = 8
_FIRST_FREE = 3 + MOST_FDS
"""Descriptors of orders get numbers from here, so that moving them hits none."""
_PARENT, _INTO_CGROUP = 0x8000, 0x2_0000_0000
_CLONE3 = 435
_CLONE = {"x86_64": 56, "aarch64": 220, "riscv64": 220, "ppc64le": 120}
_PR_SET_PDEATHSIG = 1
_NOT_STARTED = 127
_libc = ctypes.PyDLL(None, use_errno=True)  # holds the interpreter's lock


def main() -> None:
    """Serve orders until the worker closes its end, or is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.disable()  # what it makes has no cycles, and a child must not look for any
    door = socket.socket(fileno=int(sys.argv[1]))
    door.set_inheritable(False)
    while (spare := os.open("/dev/null", os.O_RDWR)) < _FIRST_FREE:
        pass
    os.close(spare)
    worker = os.getppid()
    while True:
        said, fds, _, _ = socket.recv_fds(door, ORDER_BYTES, MOST_FDS)
        if not said:
            return
        try:
            answer = _spawn(json.loads(said), fds, worker)
        except OSError as why:
            answer = -(why.errno or 1)
        for fd in fds:
            os.close(fd)
        door.send(struct.pack("i", answer))


def _spawn(order: dict[str, Any], fds: list[int], worker: int) -> int:
    """Start what is ordered and return its process id."""
    pid, born = _fork(order["born_in"])
    if pid:
        return pid
    try:
        os.setsid()
        late = [] if born else [f"{order['born_in']}/cgroup.procs"]
        for path in [*order["enters"], *late]:
            _write(path, b"0")
        for number, fd in enumerate(fds):
            os.dup2(fd, number)
            os.close(fd)
        _restrain(order, worker)
        os.chdir(order["cwd"])
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
            return _call(_CLONE3, words, len(words)), True
        finally:
            os.close(folder)
    except OSError:  # an older kernel, or a container that does not allow it
        return _clone(), False


def _clone() -> int:
    return _call(_CLONE[os.uname().machine], _PARENT | signal.SIGCHLD, 0, 0, 0, 0)


def _call(number: int, *arguments: Any) -> int:  # noqa: ANN401
    answer = _libc.syscall(number, *arguments)
    if answer == -1:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return int(answer)


def _restrain(order: dict[str, Any], worker: int) -> None:
    for number, most in order["rlimits"]:
        resource.setrlimit(number, (most, most))
    if (uid := order["uid"]) is not None:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT):  # Python ignores
        signal.signal(number, signal.SIG_DFL)
    # Last, because a change of the user undoes it.
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != worker:
        os._exit(_NOT_STARTED)


def _write(path: str, content: bytes) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(fd, content)
    finally:
        os.close(fd)


if __name__ == "__main__":
    main()
