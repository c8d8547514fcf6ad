"""Reins without a control group: the bot's process and all that descends from it.

An approximation, for the levels below full. In a process namespace nothing can leave
the tree; without one, a daemon can. Stopping is by signal, which a child in time can
dodge; memory is looked at, not limited; a thread's time is lost when it ends.
"""

import contextlib
import os
import signal
import time
from pathlib import Path

from engine.referee import ServiceFault
from ladder.runner.protocol import Limits
from ladder.runner.sandbox.proc import pressure, run_time

_TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
_GONE_S = 5.0


class ProcessTree:
    """What descends from one process."""

    def __init__(self, root: int, limits: Limits) -> None:
        self._root = root
        self._most = limits.memory_mb << 20
        self._peak = 0
        self._stopped: list[int] = []

    def processes(self) -> list[int]:
        """Return the root and its descendants."""
        found = [self._root]
        for pid in found:  # grows while it is read
            found += _children(pid)
        return found

    def threads(self) -> list[int]:
        """Return the threads of the tree."""
        return [tid for pid in self.processes() for tid in _threads(pid)]

    def cpu_ns(self) -> int:
        """Return the time of living threads and of children that were waited for."""
        pids = self.processes()
        living = sum(run_time(tid) for pid in pids for tid in _threads(pid))
        return living + sum(_ended_ticks(pid) for pid in pids) * _TICK_NS

    def pressure_ns(self) -> int:
        """Return how long threads of the machine waited for a processor."""
        return pressure()

    def freeze(self) -> None:
        """Stop what is there now, but for the root, which may be the sandbox's own."""
        self._stopped = self.processes()[1:]
        _signal(self._stopped, signal.SIGSTOP)

    def thaw(self) -> None:
        """Let what was stopped run again."""
        _signal(self._stopped, signal.SIGCONT)
        self._stopped = []

    def over_memory(self) -> bool:
        """Return whether it holds more than its limit right now.

        What processes may share is counted once, as if all shared the same.
        """
        seen = [_memory(pid) for pid in self.processes()[1:]]
        held = sum(own for own, _ in seen) + max((s for _, s in seen), default=0)
        self._peak = max(self._peak, held)
        return held > self._most

    def memory_peak(self) -> int | None:
        """Return the most that was ever seen."""
        return self._peak or None

    def strike(self, spare: int) -> None:
        """Kill the tree but for one process of it."""
        _signal([pid for pid in self.processes() if pid != spare], signal.SIGKILL)

    def remove(self) -> None:
        """Kill what is left of the tree, and wait until only the dead are there."""
        deadline = time.monotonic() + _GONE_S
        while living := [pid for pid in self.processes() if _lives(pid)]:
            # The root last: to it falls what others leave behind.
            _signal(living[1:] or living, signal.SIGKILL)
            if time.monotonic() > deadline:
                raise ServiceFault(f"process {self._root} does not end")


def _children(pid: int) -> list[int]:
    return [
        int(child)
        for tid in _threads(pid)
        for child in _read(f"/proc/{pid}/task/{tid}/children").split()
    ]


def _threads(pid: int) -> list[int]:
    try:
        return [int(path.name) for path in Path(f"/proc/{pid}/task").iterdir()]
    except OSError:
        return []


def _ended_ticks(pid: int) -> int:
    fields = _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    return sum(int(ticks) for ticks in fields[13:15])


def _memory(pid: int) -> tuple[int, int]:
    """Return what a process holds of its own, and what it may share, in bytes."""
    own = shared = 0
    for line in _read(f"/proc/{pid}/status").splitlines():
        if line.startswith(b"RssAnon:"):
            own = int(line.split()[1]) << 10
        elif line.startswith(b"RssShmem:"):
            shared = int(line.split()[1]) << 10
    return own, shared


def _lives(pid: int) -> bool:
    state = _read(f"/proc/{pid}/stat").rpartition(b")")[2][1:2]
    return state not in {b"", b"Z", b"X"}


def _signal(pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def _read(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError:
        return b""
