"""One control group for each bot: its memory, its processes, its clock, its off switch.

Version 1 and 2, alone and mixed (see ``hierarchies``). ``cgroups`` makes them.
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
from ladder.runner.protocol import Limits
from ladder.runner.sandbox.proc import pressure

GONE_S = 5.0
"""How long a killed bot may take to be gone."""
_MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class CgroupFolder:
    """A control group in one hierarchy."""

    path: Path
    version: int

    @property
    def v2(self) -> bool:
        return self.version == 2

    def file(self, one: str, two: str) -> Path:
        """Return the file that is called ``one`` in version 1 and ``two`` in 2."""
        return self.path / (two if self.v2 else one)


class Cgroup:
    """The group of one bot. ``freeze``, ``thaw`` and ``cpu_ns`` cost microseconds."""

    def __init__(
        self, jobs: dict[str, CgroupFolder], folders: list[CgroupFolder]
    ) -> None:
        self._folders = [folder.path for folder in folders]
        self._memory, freezer, cpu = jobs["memory"], jobs["freezer"], jobs["cpuacct"]
        self._pids_max = jobs["pids"].path / "pids.max"
        self._on, self._off = (b"1", b"0") if freezer.v2 else (b"FROZEN", b"THAWED")
        self._kill_file = freezer.path / "cgroup.kill"
        self._threads_file = freezer.file("tasks", "cgroup.threads")
        self._procs_file = freezer.path / "cgroup.procs"
        self._cpu2 = cpu.v2
        self._fds = [
            os.open(path, flags | os.O_CLOEXEC)
            for path, flags in (
                (freezer.file("freezer.state", "cgroup.freeze"), os.O_WRONLY),
                (cpu.file("cpuacct.usage", "cpu.stat"), os.O_RDONLY),
                (self._memory.file("memory.oom_control", "memory.events"), os.O_RDONLY),
            )
        ]
        self._enters = [f.path / "tasks" for f in folders if not f.v2]
        self._born_in = next((f.path for f in folders if f.v2), None)

    def limit(self, limits: Limits, pids: int) -> None:
        """Set its limits, ``pids`` processes and threads in all. Or ServiceFault."""
        try:
            write(self._pids_max, pids)
            self._limit_memory(limits.memory_mb * _MIB)
        except OSError as why:
            raise ServiceFault(f"the bot could not be limited: {why}") from why

    @contextlib.contextmanager
    def doors(self) -> Iterator[tuple[bool, list[int]]]:
        """Open the ways in: whether there is a folder to be born in, which is first.

        The others are files into which its first process writes itself (version 1).
        """
        fds = []
        try:
            if self._born_in is not None:
                fds.append(os.open(self._born_in, os.O_RDONLY | os.O_CLOEXEC))
            fds += [os.open(file, os.O_WRONLY | os.O_CLOEXEC) for file in self._enters]
            yield self._born_in is not None, fds
        finally:
            for fd in fds:
                os.close(fd)

    def freeze(self) -> None:
        """Stop every thread; returns at once, they stop within microseconds."""
        os.pwrite(self._fds[0], self._on, 0)

    def thaw(self) -> None:
        """Let every thread run again."""
        os.pwrite(self._fds[0], self._off, 0)

    def cpu_ns(self) -> int:
        """Return the processor time that the group ever used, in ns."""
        said = os.pread(self._fds[1], 512, 0)
        if self._cpu2:
            return int(said.split(None, 2)[1]) * 1000
        return int(said)

    def pressure_ns(self) -> int:
        """Return how long threads waited: the group's (version 2), or the machine's."""
        return pressure(*([f"{self._born_in}/cpu.pressure"] if self._born_in else []))

    def over_memory(self) -> bool:
        """Return whether the memory limit has killed a process of it."""
        fields = os.pread(self._fds[2], 512, 0).split()
        return fields[fields.index(b"oom_kill") + 1] != b"0"

    def memory_peak(self) -> int | None:
        """Return the most memory that it held at a time, in bytes."""
        peak = self._memory.file("memory.max_usage_in_bytes", "memory.peak")
        try:
            return int(peak.read_bytes())
        except OSError:  # version 2 tells it from Linux 5.19
            return None

    def threads(self) -> list[int]:
        """Return the ids of the threads that live in the group."""
        return ids(self._threads_file)

    def processes(self) -> list[int]:
        """Return the ids of the processes that live in the group."""
        return ids(self._procs_file)

    def strike(self, spare: int) -> None:
        """Kill what is in the group now, but for one process, and let that one run."""
        self.freeze()  # else a fork bomb outruns the list
        kill_all(pid for pid in ids(self._procs_file) if pid != spare)
        self.thaw()

    def kill(self) -> None:
        """Kill all of it, frozen or not, and wait until the group is empty."""
        deadline = time.monotonic() + GONE_S
        while ids(self._procs_file):
            if self._kill_file.exists():
                write(self._kill_file, 1)
            else:
                self.strike(spare=0)
            _wait_a_little(self._procs_file.parent / "cgroup.events")
            if time.monotonic() > deadline:
                raise ServiceFault(f"{self._procs_file} is not empty after {GONE_S} s")

    def remove(self) -> None:
        """Kill what is left, and give the folders back."""
        self.kill()
        for fd in self._fds:
            os.close(fd)
        self._fds = []
        deadline = time.monotonic() + GONE_S
        for folder in self._folders:
            while folder.exists() and time.monotonic() < deadline:
                with contextlib.suppress(OSError):  # a zombie of it is still reaped
                    folder.rmdir()

    def _limit_memory(self, most: int) -> None:
        memory = self._memory.path
        if self._memory.v2:
            write(memory / "memory.max", most)
            write_if_there(memory / "memory.swap.max", 0)
            write_if_there(memory / "memory.oom.group", 1)
        else:
            write(memory / "memory.limit_in_bytes", most)
            write_if_there(memory / "memory.memsw.limit_in_bytes", most)


def _wait_a_little(events: Path) -> None:
    """Wait until a group's emptiness may have changed, for some milliseconds."""
    poll = select.poll()
    try:
        fd = os.open(events, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        poll.poll(1)  # version 1 tells nobody
        return
    try:
        if b"populated 0" not in os.read(fd, 256):
            poll.register(fd, select.POLLPRI)
            poll.poll(5)
    finally:
        os.close(fd)


def kill_all(pids: Iterable[int]) -> None:
    """Kill processes, as far as they live."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def ids(path: Path) -> list[int]:
    """Return the ids that a file of a group lists; none if there is no group."""
    try:
        return [int(word) for word in path.read_bytes().split()]
    except OSError:
        return []


def write(path: Path, value: object) -> None:
    """Write to a file of a group. Raises OSError."""
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(fd, str(value).encode())
    finally:
        os.close(fd)


def write_if_there(path: Path, value: object) -> None:
    """Write to a file that only some kernels have, or that may be gone."""
    with contextlib.suppress(OSError):
        write(path, value)
