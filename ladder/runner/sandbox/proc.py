"""What the kernel tells of threads, processes and pipes; the dead say nothing."""

import fcntl
import math
import os
import select
import sys
import termios
import time
from dataclasses import dataclass
from pathlib import Path

_TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
_STAT_BYTES = 1 << 16
"""Some hundreds of processors fit."""
_IDLE, _STOLEN = 4, 8
"""The words of a processor's line; after idle comes idle and waiting for a disk."""


def schedstat(tid: int) -> tuple[int, int]:
    """Return how long a thread ran, and how long it waited for a processor, in ns.

    The kernel counts a wait when it ends, that is when the thread gets a processor.
    """
    fields = _read(f"/proc/{tid}/schedstat").split()
    return (int(fields[0]), int(fields[1])) if len(fields) > 1 else (0, 0)


def run_time(tid: int) -> int:
    """Return the processor time of a thread, in ns."""
    return schedstat(tid)[0]


def pressure(*paths: str) -> int:
    """Return for how long some thread had to wait for a processor, in ns.

    Of the first of these control groups (version 2) that tells, or else of the whole
    machine; also of threads that have ended. 0 if the kernel does not count it.
    """
    for path in (*paths, "/proc/pressure/cpu"):
        if some := _read(path).partition(b"\n")[0]:
            return int(some.rpartition(b"=")[2]) * 1_000
    return 0


@dataclass(frozen=True, slots=True)
class Processed:
    """What each processor of the machine did until a moment, in ns."""

    idle: tuple[int, ...]
    stolen: tuple[int, ...]

    def since(self, before: "Processed") -> tuple[int, int]:
        """Return how long the busiest was idle, and the most that one was stolen."""
        idle = [now - then for now, then in zip(self.idle, before.idle, strict=False)]
        stolen = zip(self.stolen, before.stolen, strict=False)
        return (
            min(idle, default=0),
            max((now - then for now, then in stolen), default=0),
        )


class Processors:
    """The machine's processors. ``stat`` is the kernel's file of that name.

    The kernel counts in ticks of 10 ms. On a virtual machine it tells what the host
    took, if the host tells it; while that lasts no thread runs, and none waits.
    """

    def __init__(self, stat: Path = Path("/proc/stat")) -> None:
        self._stat = str(stat)
        self._read, self._last = 0, Processed((), ())

    def read(self, stale_ns: int = 0) -> Processed:
        """Return what they did until now, or until ``stale_ns`` ago at most."""
        now = time.monotonic_ns()
        if now - self._read >= stale_ns:
            lines = _read(self._stat, _STAT_BYTES).split(b"\nintr", 1)[0].splitlines()
            fields = [line.split() for line in lines[1:]]
            told = [words for words in fields if len(words) > _STOLEN]
            self._last = Processed(
                tuple((int(w[_IDLE]) + int(w[_IDLE + 1])) * _TICK_NS for w in told),
                tuple(int(w[_STOLEN]) * _TICK_NS for w in told),
            )
            self._read = now
        return self._last


class OwnDelay:
    """How long the thread that made this has waited for a processor."""

    def __init__(self) -> None:
        way = "/proc/thread-self/schedstat"
        # Not Linux, or a kernel that does not count: then nothing is known of it.
        self._fd = (
            os.open(way, os.O_RDONLY | os.O_CLOEXEC) if Path(way).exists() else -1
        )

    def read(self) -> int:
        """Return it in ns."""
        if self._fd < 0:
            return 0
        return int(os.pread(self._fd, 128, 0).split()[1])

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)


def runnable(tid: int) -> bool:
    """Return whether a thread runs, or would if it had a processor."""
    return _read(f"/proc/{tid}/stat").rpartition(b")")[2][1:2] == b"R"


def holds(pid: int, pipe: int) -> bool:
    """Return whether a process has our ``pipe`` open; True if we may not look."""
    try:
        wanted = _identity(os.fstat(pipe))
        return any(_at(fd) == wanted for fd in Path(f"/proc/{pid}/fd").iterdir())
    except OSError:
        return True


def _at(path: Path) -> tuple[int, int]:
    try:
        return _identity(path.stat())
    except OSError:
        return (0, 0)


def _identity(seen: os.stat_result) -> tuple[int, int]:
    return (seen.st_dev, seen.st_ino)


def wait_for_exit(pid: int, wait_ms: float) -> bool:
    """Wait until a child of ours has exited, not reaping it; False if it did not."""
    if not hasattr(os, "pidfd_open"):
        return (
            os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None
        )
    try:
        fd = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        poll = select.poll()
        poll.register(fd, select.POLLIN)
        return bool(poll.poll(math.ceil(wait_ms)))
    finally:
        os.close(fd)


def unread(fd: int) -> int:
    """Return how many bytes lie unread in a pipe, of either of its ends; 0 if shut."""
    count = bytearray(4)  # with bytes, ioctl takes three times as long
    try:
        fcntl.ioctl(fd, termios.FIONREAD, count)
    except OSError:
        return 0
    return int.from_bytes(count, sys.byteorder)


def _read(path: str, most: int = 1024) -> bytes:
    try:
        fd = os.open(path, os.O_RDONLY)
    except OSError:
        return b""
    try:
        return os.read(fd, most)
    except OSError:
        return b""
    finally:
        os.close(fd)
