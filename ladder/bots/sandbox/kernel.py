"""What the kernel tells of threads, processes and pipes; the dead say nothing."""

import fcntl
import math
import os
import select
import sys
import termios
from pathlib import Path


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


def _read(path: str) -> bytes:
    try:
        fd = os.open(path, os.O_RDONLY)
    except OSError:
        return b""
    try:
        return os.read(fd, 1024)
    except OSError:
        return b""
    finally:
        os.close(fd)
