"""Starting programs through a zygote: a quick fork, straight into the control groups.

See ``zygote.serve`` for what it does and why. A process is born first and told later
what it is to become, so that it may be born before it is needed. The zygote belongs to
a thread of its own, and so do its children: the kernel kills them when that thread
ends, with the process.
"""

import contextlib
import json
import os
import signal
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
from ladder.runner.zygote.serve import ORDER_BYTES

_START_S = 20.0
_SERVE = (
    f"import sys; sys.path.insert(0, {str(Path(__file__).resolve().parents[3])!r});"
    " from ladder.runner.zygote.serve import main; main()"
)
_NO_MORE = b"{}"
"""The zygote is to go; without it, it takes the worker for dead, and kills its bots."""


@dataclass(frozen=True, slots=True)
class SpawnOrder:
    """What to start, and how.

    The program's descriptors are those given with the order: stdin, stdout, stderr,
    then 3, 4, … ``rlimits`` are pairs of a number of ``resource`` and a limit; ``uid``
    is also the group's id, if given. ``boxed`` says what its box is furnished with, if
    it was born in one (``namespaces.furnish``); ``confined`` are the paths that it may
    read (``reads``) and write (``writes``) if Landlock is to hold it. If it is
    ``filtered``, 4 is a filter, and from 3 a byte is read when it is loaded.
    """

    argv: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str = "/"
    uid: int | None = None
    rlimits: Sequence[tuple[int, int]] = ()
    boxed: Mapping[str, Any] | None = None
    confined: Mapping[str, Sequence[str]] | None = None
    filtered: bool = False


_FIELDS = [field.name for field in fields(SpawnOrder)]


class SpawnedProcess:
    """A process in its control groups, and in its box, that waits for its order.

    It is a child of this process, and stays one whatever it becomes.
    """

    def __init__(self, door: socket.socket) -> None:
        self._door = door
        self._pid = 0
        self._code: int | None = None

    @property
    def pid(self) -> int:
        """Its process id; waits until it is born. Raises ServiceFault if it was not."""
        self._be_told()
        if self._pid < 0:
            raise ServiceFault(f"no process could be made: {os.strerror(-self._pid)}")
        return self._pid

    def __del__(self) -> None:
        self._door.close()

    def start(self, order: SpawnOrder, fds: Sequence[int]) -> None:
        """Let it become a program. Raises ServiceFault if it is gone.

        What cannot be run says why on its stderr, and ends with 127.
        """
        said = json.dumps({name: getattr(order, name) for name in _FIELDS}).encode()
        if len(said) > ORDER_BYTES:
            raise ServiceFault(f"{order.argv[0]}: {len(said)} bytes of options")
        try:
            socket.send_fds(self._door, [said], fds)
        except OSError as why:
            raise ServiceFault(f"what was to be started is gone: {why}") from why
        finally:
            self._be_told()
            self._door.close()

    def _be_told(self) -> None:
        """Take the zygote's answer: the process id, or a negative error number."""
        if not self._pid:
            try:
                (self._pid,) = struct.unpack("i", self._door.recv(4))
            except (OSError, struct.error):
                raise ServiceFault("who starts bots does not answer") from None

    def poll(self) -> int | None:
        """Return its code as ``subprocess`` has it, or None while it runs."""
        return self._wait(os.WNOHANG)

    def wait(self) -> int:
        """Wait for its end, and return its code."""
        code = self._wait(0)
        assert code is not None
        return code

    def drop(self) -> None:
        """End it: it has no order, or one that is not to be followed."""
        with contextlib.suppress(ServiceFault):  # then it was not born
            if self.poll() is None:
                os.kill(self.pid, signal.SIGKILL)
                self.wait()
        self._door.close()

    def _wait(self, how: int) -> int | None:
        if self._code is None:
            pid, status = os.waitpid(self.pid, how)
            if pid:
                self._code = os.waitstatus_to_exitcode(status)
        return self._code


class ZygoteClient:
    """Has processes born, for any number of threads of this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._door: socket.socket | None = None
        self._owner = 0

    def bear(
        self, common: Mapping[str, Any] | None, doors: Sequence[int], *, placed: bool
    ) -> SpawnedProcess:
        """Have a process born, and do not wait for it. Raises ServiceFault.

        ``common`` says what all boxes are made of, if it is to be born in one
        (``namespaces.prepare``). If it is ``placed``, the first of the doors is the
        folder of its control group of version 2; the others are files of groups of
        version 1, which it writes itself into.
        """
        said = json.dumps({"common": common, "placed": placed}).encode()
        ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.settimeout(_START_S)
        with contextlib.ExitStack() as failing:
            failing.callback(ours.close)
            with its, self._lock:
                self._send(said, (its.fileno(), *doors))
            failing.pop_all()
        return SpawnedProcess(ours)

    def close(self) -> None:
        """Let the zygote go."""
        with self._lock:
            self._hang_up()

    def __del__(self) -> None:
        self._hang_up()

    def _send(self, said: bytes, fds: Sequence[int]) -> None:
        for _ in range(2):  # a zygote that somebody killed is replaced
            if self._door is None or self._owner != os.getpid():
                self._door, self._owner = _zygote(), os.getpid()
            try:
                socket.send_fds(self._door, [said], fds)
            except OSError:
                self._hang_up()
            else:
                return
        raise ServiceFault("who starts bots does not answer")

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
