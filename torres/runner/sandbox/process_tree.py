"""Control of a bot without a control group: its process and all descendants.

This is an approximation for level ``reduced``. In a PID namespace no process can leave
the tree; without one, a daemon can. A bot is stopped by a signal, which a child that
starts at the right moment escapes. Memory is measured now and then, not limited. The
CPU time of a thread is lost when it ends.
"""

import contextlib
import os
import signal
import time
from pathlib import Path

from engine.referee import ServiceFault
from torres.runner.protocol import Limits
from torres.runner.sandbox.proc import machine_oom_kills, pressure, run_time

_TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
_KILL_TIMEOUT_S = 5.0


class ProcessTree:
    """One process, ``root``, and its descendants."""

    def __init__(self, root: int, limits: Limits) -> None:
        self._root = root
        self._memory_limit = limits.memory_mb << 20
        self._peak = 0
        self._oom_kills_before = machine_oom_kills()
        self._stopped: list[int] = []

    def processes(self) -> list[int]:
        """Return the root and its descendants."""
        pids = [self._root]
        for pid in pids:  # The list grows while the loop reads it.
            pids += _children(pid)
        return pids

    def threads(self) -> list[int]:
        """Return the ids of the threads of the tree."""
        return [tid for pid in self.processes() for tid in _threads(pid)]

    def cpu_ns(self) -> int:
        """Return the CPU time of living threads and of reaped children, in ns."""
        pids = self.processes()
        living = sum(run_time(tid) for pid in pids for tid in _threads(pid))
        return living + sum(_ended_ticks(pid) for pid in pids) * _TICK_NS

    def pressure_ns(self) -> int:
        """Return for how long some thread of the machine waited for a CPU, in ns."""
        return pressure()

    def freeze(self) -> None:
        """Stop all processes except the root, which may belong to the sandbox."""
        self._stopped = self.processes()[1:]
        _signal(self._stopped, signal.SIGSTOP)

    def thaw(self) -> None:
        """Let the stopped processes run again."""
        _signal(self._stopped, signal.SIGCONT)
        self._stopped = []

    def over_memory(self) -> bool:
        """True if the tree, without its root, uses more memory than its limit now.

        Shared memory counts once for all processes that share it. To know which do is
        expensive, so the kernel is only asked if the answer can matter.
        """
        usage = {pid: _memory(pid) for pid in self.processes()[1:]}
        private = sum(own for own, _ in usage.values())
        shared = [shared for _, shared in usage.values()]
        held = private + max(shared, default=0)
        if held <= self._memory_limit < private + sum(shared):
            parts = (_part_of_shared(pid, usage[pid][1]) for pid in usage)
            held = max(held, private + sum(parts))
        self._peak = max(self._peak, held)
        return held > self._memory_limit

    def counters(self) -> dict[str, int]:
        """Return the kills for a lack of memory on the machine since the start."""
        return {"oom_kills": machine_oom_kills() - self._oom_kills_before}

    def memory_peak(self) -> int | None:
        """Return the highest use that was measured, in bytes; None if none was."""
        return self._peak or None

    def kill_all_but(self, pid: int) -> None:
        """Kill all processes of the tree except one."""
        others = [other for other in self.processes() if other != pid]
        _signal(others, signal.SIGKILL)

    def remove(self) -> None:
        """Kill the rest of the tree, and wait until only zombies are left."""
        deadline = time.monotonic() + _KILL_TIMEOUT_S
        while True:
            living = [pid for pid in self.processes() if _lives(pid)]
            if not living:
                return
            # The root last: it inherits the orphans of the others.
            _signal(living[1:] or living, signal.SIGKILL)
            if time.monotonic() > deadline:
                raise ServiceFault(
                    f"Process {self._root} was killed and has not ended after"
                    f" {_KILL_TIMEOUT_S} s. Restart the worker."
                )


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
    """Return the CPU time of the reaped children of a process, in clock ticks."""
    fields = _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    return sum(int(ticks) for ticks in fields[13:15])


def _memory(pid: int) -> tuple[int, int]:
    """Return the private and the shared memory of a process, in bytes."""
    own = shared = 0
    for line in _read(f"/proc/{pid}/status").splitlines():
        if line.startswith(b"RssAnon:"):
            own = int(line.split()[1]) << 10
        elif line.startswith(b"RssShmem:"):
            shared = int(line.split()[1]) << 10
    return own, shared


def _part_of_shared(pid: int, shared: int) -> int:
    """Return the shared memory of a process, in bytes, each page divided by its users.

    Return ``shared``, which is all of it, if the kernel does not tell: a bot may forbid
    us to look.
    """
    for line in _read(f"/proc/{pid}/smaps_rollup").splitlines():
        if line.startswith(b"Pss_Shmem:"):
            return int(line.split()[1]) << 10
    return shared


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
