"""Starting programs through a zygote: a quick fork, straight into the control groups.

See ``zygote.serve`` for what it does and why. The zygote belongs to a thread of its
own, and so do its children: the kernel kills them when that thread ends, with the
process.
"""

import contextlib
import json
import os
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from engine.referee import ServiceFault
from ladder.bots.zygote.serve import ORDER_BYTES

_START_S = 20.0
_SERVE = (
    f"import sys; sys.path.insert(0, {str(Path(__file__).resolve().parents[3])!r});"
    " from ladder.bots.zygote.serve import main; main()"
)
_NO_MORE = b"{}"
"""The zygote is to go; without it, it takes the worker for dead, and kills its bots."""


@dataclass(frozen=True, slots=True)
class Order:
    """What to start, and how.

    The program's descriptors are those given with the order: stdin, stdout, stderr,
    then 3, 4, …, as many as ``files`` says. The next is the folder of the control
    group of version 2 in which it is to be ``born``, the others are files of groups of
    version 1 that it writes itself into. ``rlimits`` are pairs of a number of
    ``resource`` and a limit; ``uid`` is also the group's id, if given.
    If the zygote is to make a box, ``common`` and ``boxed`` say of what: arguments of
    ``namespaces.prepare`` and ``furnish``. ``confined`` are the paths that it may read
    (``reads``) and write (``writes``) if Landlock is to hold it. If it is ``filtered``,
    4 is a filter, and from 3 a byte is read when it is loaded.
    """

    argv: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str = "/"
    uid: int | None = None
    rlimits: Sequence[tuple[int, int]] = ()
    files: int = 5
    born: bool = False
    common: Mapping[str, Any] | None = None
    boxed: Mapping[str, Any] | None = None
    confined: Mapping[str, Sequence[str]] | None = None
    filtered: bool = False


_FIELDS = [field.name for field in fields(Order)]


class Child:
    """A process that was started, which is a child of this process."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._code: int | None = None

    def poll(self) -> int | None:
        """Return its code as ``subprocess`` has it, or None while it runs."""
        return self._wait(os.WNOHANG)

    def wait(self) -> int:
        """Wait for its end, and return its code."""
        code = self._wait(0)
        assert code is not None
        return code

    def _wait(self, how: int) -> int | None:
        if self._code is None:
            pid, status = os.waitpid(self.pid, how)
            if pid:
                self._code = os.waitstatus_to_exitcode(status)
        return self._code


class Spawner:
    """Starts programs, from any number of threads of this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._door: socket.socket | None = None
        self._owner = 0

    def spawn(self, order: Order, fds: Sequence[int]) -> Child:
        """Start a program. Raises ServiceFault if that fails; it may yet fail to run.

        A program that could not be run says why on its stderr, and ends with 127.
        """
        said = json.dumps({name: getattr(order, name) for name in _FIELDS}).encode()
        if len(said) > ORDER_BYTES:
            raise ServiceFault(f"{order.argv[0]}: {len(said)} bytes of options")
        with self._lock:
            answer = self._ask(said, fds)
        if answer < 0:
            raise ServiceFault(f"no process could be made: {os.strerror(-answer)}")
        return Child(answer)

    def close(self) -> None:
        """Let the zygote go."""
        with self._lock:
            self._hang_up()

    def __del__(self) -> None:
        self._hang_up()

    def _ask(self, said: bytes, fds: Sequence[int]) -> int:
        for _ in range(2):  # a zygote that somebody killed is replaced
            if self._door is None or self._owner != os.getpid():
                self._door, self._owner = _zygote(), os.getpid()
            try:
                socket.send_fds(self._door, [said], fds)
                if answer := self._door.recv(4):
                    return int(struct.unpack("i", answer)[0])
            except OSError:
                pass
            self._hang_up()
        raise ServiceFault("the process that starts bots does not answer")

    def _hang_up(self) -> None:
        if self._door is not None:
            with contextlib.suppress(OSError):
                self._door.send(_NO_MORE)
            self._door.close()
            self._door = None


def _zygote() -> socket.socket:
    """Start a zygote in a thread of its own; return the socket for its orders."""
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.settimeout(_START_S)
    ready = threading.Event()
    argv = [*(sys.executable, "-I", "-S", "-B", "-c", _SERVE), str(its.fileno())]

    def keep() -> None:
        try:
            with its:
                process = subprocess.Popen(
                    argv,
                    env={},
                    cwd="/",
                    stdin=subprocess.DEVNULL,
                    pass_fds=(its.fileno(),),
                    start_new_session=True,
                )
        finally:
            ready.set()
        process.wait()

    threading.Thread(target=keep, name="zygote", daemon=True).start()
    ready.wait()
    return ours
