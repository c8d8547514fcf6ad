"""The control group of one bot: limits of memory and processes, CPU time, freezing.

It works with version 1 and version 2 of the kernel's interface, alone or mixed (see
``cgroup_mounts``). ``cgroup_manager`` makes the groups.
"""

import contextlib
import os
import select
import signal
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from engine.referee import ServiceFault
from torres.runner.sandbox.proc import pressure

KILL_TIMEOUT_S = 5.0
"""How long killed processes may take until they are gone."""
_MIB = 1 << 20
_LARGEST_CHARGE = 64 * os.sysconf("SC_PAGESIZE")
"""A group of version 1 may be killed for its limit if its peak is this much below it:
the allocation that failed is not part of the peak."""
_FREEZE = 0
"""Index of the descriptor of the file that freezes and thaws the group."""
_CPU = 1
"""Index of the descriptor of the file with the CPU time."""
_OOM = 2
"""Index of the descriptor of the file that counts out-of-memory kills."""


@dataclass(frozen=True, slots=True)
class CgroupFolder:
    """The folder of a control group in one hierarchy, and the hierarchy's version."""

    path: Path
    version: int

    @property
    def v2(self) -> bool:
        return self.version == 2

    def file(self, name_v1: str, name_v2: str) -> Path:
        """Return a file of the group, whose name depends on the version."""
        return self.path / (name_v2 if self.v2 else name_v1)


class Cgroup:
    """The control group of one bot.

    ``jobs`` maps each of ``cgroup_mounts.JOBS`` to the folder that does it; ``folders``
    are the same folders, each once. ``freeze``, ``thaw`` and ``cpu_ns`` run for every
    decision and take microseconds: their files stay open.
    """

    def __init__(
        self, jobs: dict[str, CgroupFolder], folders: list[CgroupFolder]
    ) -> None:
        self._folders = [folder.path for folder in folders]
        self._memory = jobs["memory"]
        freezer = jobs["freezer"]
        cpu = jobs["cpuacct"]
        self._pids_max = jobs["pids"].path / "pids.max"
        self._pids_events = jobs["pids"].path / "pids.events"
        self._frozen = b"1" if freezer.v2 else b"FROZEN"
        self._thawed = b"0" if freezer.v2 else b"THAWED"
        self._kill_file = freezer.path / "cgroup.kill"
        self._threads_file = freezer.file("tasks", "cgroup.threads")
        self._procs_file = freezer.path / "cgroup.procs"
        self._cpu_v2 = cpu.v2
        freeze_file = self._freeze_file = freezer.file("freezer.state", "cgroup.freeze")
        cpu_file = cpu.file("cpuacct.usage", "cpu.stat")
        oom_file = self._memory.file("memory.oom_control", "memory.events")
        # One list, so that ``remove`` can empty it: a call that comes later must not
        # reach a descriptor of the same number that means another file.
        self._fds = [
            os.open(freeze_file, os.O_WRONLY | os.O_CLOEXEC),
            os.open(cpu_file, os.O_RDONLY | os.O_CLOEXEC),
            os.open(oom_file, os.O_RDONLY | os.O_CLOEXEC),
        ]
        self._memory_limit = 0
        self._tasks_files = [f.path / "tasks" for f in folders if not f.v2]
        self._folder_v2 = next((f.path for f in folders if f.v2), None)

    def limit(self, memory_mb: int, pids: int) -> None:
        """Set the limits: of memory in MiB, and of processes and threads together.

        Raises ServiceFault.
        """
        try:
            write(self._pids_max, pids)
            self._memory_limit = memory_mb * _MIB
            self._limit_memory(self._memory_limit)
        except OSError as why:
            raise ServiceFault(
                f"The limits of the control group could not be set: {why}."
            ) from why

    @contextlib.contextmanager
    def entry_fds(self) -> Iterator[tuple[bool, list[int]]]:
        """Open what the bot's first process needs to enter the group.

        Yield whether the first descriptor is a folder of version 2, into which the
        process can be cloned, and the descriptors. All others are ``tasks`` files of
        version 1, to which the process must write.
        """
        fds = []
        try:
            if self._folder_v2 is not None:
                fds.append(os.open(self._folder_v2, os.O_RDONLY | os.O_CLOEXEC))
            fds += [os.open(f, os.O_WRONLY | os.O_CLOEXEC) for f in self._tasks_files]
            yield self._folder_v2 is not None, fds
        finally:
            for fd in fds:
                os.close(fd)

    def freeze(self) -> None:
        """Stop every thread. Returns at once; they stop within microseconds."""
        os.pwrite(self._fds[_FREEZE], self._frozen, 0)

    def thaw(self) -> None:
        """Let every thread run again."""
        os.pwrite(self._fds[_FREEZE], self._thawed, 0)

    def cpu_ns(self) -> int:
        """Return the CPU time that the group has used since it exists, in ns."""
        content = os.pread(self._fds[_CPU], 512, 0)
        if self._cpu_v2:
            # The first line is "usage_usec 123".
            return int(content.split(None, 2)[1]) * 1000
        return int(content)

    def pressure_ns(self) -> int:
        """Return for how long some thread waited for a CPU, in ns.

        Only version 2 counts that for the group; otherwise, return the value of the
        whole machine.
        """
        if self._folder_v2 is None:
            return pressure()
        return pressure(f"{self._folder_v2}/cpu.pressure")

    def over_memory(self) -> bool:
        """True if the kernel killed a process of the group for its memory limit.

        The counter of kills alone is no evidence: it also counts those for a lack of
        memory of the whole host or of a group above this one.
        """
        fields = os.pread(self._fds[_OOM], 512, 0).split()
        if not _count(fields, b"oom_kill"):
            return False
        if self._memory.v2:
            # Counts allocations that failed because this group was at its limit.
            return _count(fields, b"oom") > 0
        peak = self.memory_peak()
        return peak is None or peak >= self._memory_limit - _LARGEST_CHARGE

    def counters(self) -> dict[str, int]:
        """Return the kills for a lack of memory, the refused forks, and the freezer."""
        oom = os.pread(self._fds[_OOM], 512, 0).split()
        return {
            "oom_kills": _count(oom, b"oom_kill"),
            "forks_refused": _count(_words(self._pids_events), b"max"),
            "frozen": int(_words(self._freeze_file) in ([b"1"], [b"FROZEN"])),
        }

    def memory_peak(self) -> int | None:
        """Return the peak memory use in bytes; None if the kernel does not tell."""
        peak = self._memory.file("memory.max_usage_in_bytes", "memory.peak")
        try:
            return int(peak.read_bytes())
        except OSError:  # Version 2 has the file since Linux 5.19.
            return None

    def threads(self) -> list[int]:
        """Return the ids of the threads in the group."""
        return ids(self._threads_file)

    def processes(self) -> list[int]:
        """Return the ids of the processes in the group."""
        return ids(self._procs_file)

    def kill_all_but(self, pid: int) -> None:
        """Kill all processes that are in the group now, except one, which goes on."""
        # Without the freeze, a fork bomb grows faster than the list is read.
        self.freeze()
        kill_all(other for other in ids(self._procs_file) if other != pid)
        self.thaw()

    def kill(self) -> None:
        """Kill every process, frozen or not, and wait until the group is empty."""
        deadline = time.monotonic() + KILL_TIMEOUT_S
        while ids(self._procs_file):
            if self._kill_file.exists():
                write(self._kill_file, 1)
            else:
                self.kill_all_but(0)
            _wait_for_change(self._procs_file.parent / "cgroup.events")
            if time.monotonic() > deadline:
                raise ServiceFault(
                    f"The processes in {self._procs_file} were killed and have not"
                    f" ended after {KILL_TIMEOUT_S} s. Restart the worker."
                )

    def remove(self) -> None:
        """Kill all processes that are left, and remove the folders."""
        self.kill()
        for fd in self._fds:
            os.close(fd)
        self._fds = []
        deadline = time.monotonic() + KILL_TIMEOUT_S
        for folder in self._folders:
            while folder.exists() and time.monotonic() < deadline:
                with contextlib.suppress(OSError):  # A zombie is not reaped yet.
                    folder.rmdir()

    def _limit_memory(self, limit: int) -> None:
        memory = self._memory.path
        if self._memory.v2:
            write(memory / "memory.max", limit)
            write_if_possible(memory / "memory.swap.max", 0)
            write_if_possible(memory / "memory.oom.group", 1)
        else:
            write(memory / "memory.limit_in_bytes", limit)
            write_if_possible(memory / "memory.memsw.limit_in_bytes", limit)


def _count(fields: list[bytes], name: bytes) -> int:
    """Return the number that follows a name; 0 if the kernel does not count it."""
    return int(fields[fields.index(name) + 1]) if name in fields else 0


def _words(path: Path) -> list[bytes]:
    """Return the words in a file of a group; none if the kernel has no such file."""
    try:
        return path.read_bytes().split()
    except OSError:
        return []


def _wait_for_change(events: Path) -> None:
    """Wait some milliseconds, or until the group may have become empty."""
    poll = select.poll()
    try:
        fd = os.open(events, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        poll.poll(1)  # Version 1 has no such event.
        return
    try:
        if b"populated 0" not in os.read(fd, 256):
            poll.register(fd, select.POLLPRI)
            poll.poll(5)
    finally:
        os.close(fd)


def kill_all(pids: Iterable[int]) -> None:
    """Kill the processes that still exist."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def ids(path: Path) -> list[int]:
    """Return the ids that a file of a group lists; none if the group is gone."""
    return [int(word) for word in _words(path)]


def write(path: Path, value: object) -> None:
    """Write to a file of a group. Raises OSError."""
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(fd, str(value).encode())
    finally:
        os.close(fd)


def write_if_possible(path: Path, value: object) -> None:
    """Write to a file, and ignore that the kernel has no such file or it is gone."""
    with contextlib.suppress(OSError):
        write(path, value)
