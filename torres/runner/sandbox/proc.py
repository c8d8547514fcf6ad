"""Facts from the kernel about threads, processes and CPUs.

A thread or a process that has ended is no error: its values are 0 or empty. They are 0
on systems without /proc, too, where the module must still be importable.
"""

import math
import os
import select
import sys
import time
from dataclasses import dataclass
from pathlib import Path

_TICK_NS = 1_000_000_000 // (
    os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
)
_STAT_BYTES = 1 << 16
"""Enough of /proc/stat for some hundreds of CPUs."""
_IDLE = 4
"""Index of the idle time in a CPU's line. The next field is idle time with I/O wait."""
_STEAL = 8
"""Index of the time that the host of a virtual machine took from the CPU."""


def schedstat(tid: int) -> tuple[int, int]:
    """Return how long a thread has run, and has waited for a CPU, in ns.

    The kernel counts a wait when it ends, that is, when the thread gets a CPU.
    """
    fields = _read(f"/proc/{tid}/schedstat").split()
    return (int(fields[0]), int(fields[1])) if len(fields) > 1 else (0, 0)


def run_time(tid: int) -> int:
    """Return the CPU time of a thread, in ns."""
    return schedstat(tid)[0]


def pressure(*paths: str) -> int:
    """Return for how long at least one thread had to wait for a CPU, in ns.

    ``paths`` are ``cpu.pressure`` files of control groups (version 2). The first one
    that can be read counts; otherwise, the value is that of the whole machine.
    Threads that have ended count, too. 0 if the kernel does not count pressure.
    """
    for path in (*paths, "/proc/pressure/cpu"):
        # "some avg10=0.00 avg60=0.00 avg300=0.00 total=123", in microseconds.
        line = _read(path).partition(b"\n")[0]
        if line:
            return int(line.rpartition(b"=")[2]) * 1_000
    return 0


@dataclass(frozen=True, slots=True)
class Processed:
    """How long each CPU of the machine was idle, and stolen, until a moment, in ns.

    Idle time includes waiting for I/O. CPU time is stolen if the host of a virtual
    machine takes it; the kernel calls it steal.
    """

    idle: tuple[int, ...]
    stolen: tuple[int, ...]

    def since(self, before: "Processed") -> tuple[int, int]:
        """Return the idle time of the busiest CPU, and the highest steal, in ns."""
        idle = [now - then for now, then in zip(self.idle, before.idle, strict=False)]
        stolen = zip(self.stolen, before.stolen, strict=False)
        return (
            min(idle, default=0),
            max((now - then for now, then in stolen), default=0),
        )


class Processors:
    """Reads the times of the machine's CPUs. ``stat`` is /proc/stat.

    The kernel counts in ticks of 10 ms. In a virtual machine it counts the stolen
    time, if the host reports it. The thread whose CPU is stolen neither runs nor
    waits.
    """

    def __init__(self, stat: Path = Path("/proc/stat")) -> None:
        self._stat = str(stat)
        self._read_at_ns = 0
        self._last = Processed((), ())

    def read(self, stale_ns: int = 0) -> Processed:
        """Return the times until now, or a reading that is at most ``stale_ns`` old."""
        now = time.monotonic_ns()
        if now - self._read_at_ns >= stale_ns:
            lines = _read(self._stat, _STAT_BYTES).split(b"\nintr", 1)[0].splitlines()
            fields = [line.split() for line in lines[1:]]
            cpus = [words for words in fields if len(words) > _STEAL]
            self._last = Processed(
                tuple((int(w[_IDLE]) + int(w[_IDLE + 1])) * _TICK_NS for w in cpus),
                tuple(int(w[_STEAL]) * _TICK_NS for w in cpus),
            )
            self._read_at_ns = now
        return self._last


class OwnDelay:
    """How long the thread that created this object has waited for a CPU."""

    def __init__(self) -> None:
        path = "/proc/thread-self/schedstat"
        self._fd = -1
        # The file is missing if the kernel does not count waits.
        if sys.platform == "linux" and Path(path).exists():
            self._fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)

    def read(self) -> int:
        """Return the waiting time so far, in ns; 0 if it is unknown."""
        if self._fd < 0:
            return 0
        return int(os.pread(self._fd, 128, 0).split()[1])

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)


def machine_oom_kills() -> int:
    """Return how many processes the kernel has killed for a lack of memory so far."""
    fields = _read("/proc/vmstat", _STAT_BYTES).split()
    return int(fields[fields.index(b"oom_kill") + 1]) if b"oom_kill" in fields else 0


def runnable(tid: int) -> bool:
    """True if a thread runs, or waits only for a CPU."""
    return _read(f"/proc/{tid}/stat").rpartition(b")")[2][1:2] == b"R"


def holds(pid: int, pipe: int) -> bool:
    """True if a process has our ``pipe`` open, or if we may not look."""
    try:
        ours = _identity(os.fstat(pipe))
        fds = Path(f"/proc/{pid}/fd").iterdir()
        return any(_identity_of(fd) == ours for fd in fds)
    except OSError:
        return True


def _identity_of(path: Path) -> tuple[int, int]:
    try:
        return _identity(path.stat())
    except FileNotFoundError:  # it was closed meanwhile
        return (0, 0)


def _identity(status: os.stat_result) -> tuple[int, int]:
    """Return the device and the inode, which are the same for both ends of a pipe."""
    return (status.st_dev, status.st_ino)


def wait_for_exit(pid: int, wait_ms: float) -> bool:
    """Wait until a child of ours has exited, without reaping it; True if it has."""
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


def _read(path: str, max_bytes: int = 1024) -> bytes:
    try:
        fd = os.open(path, os.O_RDONLY)
    except OSError:
        return b""
    try:
        return os.read(fd, max_bytes)
    except OSError:
        return b""
    finally:
        os.close(fd)
