"""One control group for each bot: its memory, its processes, its clock, its off switch.

``Cgroups`` is this process's folder in each hierarchy, locked as long as the process
lives; folders of dead workers are swept by the next one that starts. A ``Cgroup`` is
one bot's folder below it. Version 1 and 2, alone and mixed (see ``hierarchies``).
"""

import contextlib
import fcntl
import itertools
import os
import secrets
import select
import signal
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from engine.referee import ServiceFault
from ladder.bots.protocol import Limits
from ladder.bots.sandbox.hierarchies import JOBS, Hierarchy, assign, find
from ladder.bots.sandbox.kernel import pressure

_OURS = "torres"
_WORKER = "torres-worker"
_GONE_S = 5.0
"""How long a killed bot may take to be gone."""
_MIB = 1 << 20
_TRIES = 20
"""So often another process may be in the way when a place is made."""


class NoCgroups(Exception):
    """A group for each bot cannot be had here; the message says why."""


@dataclass(frozen=True, slots=True)
class Folder:
    """A control group in one hierarchy."""

    path: Path
    version: int

    @property
    def v2(self) -> bool:
        return self.version == 2  # noqa: PLR2004

    def file(self, one: str, two: str) -> Path:
        """Return the file that is called ``one`` in version 1 and ``two`` in 2."""
        return self.path / (two if self.v2 else one)


class Cgroups:
    """This process's place in the hierarchies. Good for any number of its threads."""

    def __init__(self, jobs: dict[str, Hierarchy]) -> None:
        self._jobs = jobs
        self._names = itertools.count(1)
        self._locks: list[int] = []
        token = f"{os.getpid()}-{secrets.token_hex(4)}"
        self._places: dict[Path, Path] = {}
        try:
            for hierarchy in {h.here: h for h in jobs.values()}.values():
                place, lock = _settle(hierarchy, token)
                self._places[hierarchy.here] = place
                self._locks.append(lock)
        except OSError as why:
            self.close()
            raise NoCgroups(f"{why.strerror}: {why.filename}") from why

    @classmethod
    def open(cls) -> "Cgroups":
        """Take this process's place and sweep what dead workers left. Or NoCgroups."""
        try:
            jobs = assign(find())
        except (OSError, ValueError) as why:
            raise NoCgroups(f"no control groups are mounted: {why}") from why
        missing = [job for job in JOBS if job not in jobs]
        if missing:
            raise NoCgroups(f"no control group can do: {', '.join(missing)}")
        return cls(jobs)

    @property
    def version(self) -> str:
        """Which versions do the work: "1", "2" or "1+2"."""
        return "+".join(sorted({str(h.version) for h in self._jobs.values()}))

    def make(self) -> "Cgroup":
        """Make the group of one bot, still without limits. Raises ServiceFault."""
        name = str(next(self._names))
        jobs = {
            job: Folder(self._places[hierarchy.here] / name, hierarchy.version)
            for job, hierarchy in self._jobs.items()
        }
        folders = list(dict.fromkeys(jobs.values()))
        try:
            for folder in folders:
                folder.path.mkdir()
            return Cgroup(jobs, folders)
        except OSError as why:
            for folder in folders:
                with contextlib.suppress(OSError):
                    folder.path.rmdir()
            raise ServiceFault(f"no control group could be made: {why}") from why

    def close(self) -> None:
        """Give the place back; bots that still run in it are killed."""
        for place in self._places.values():
            _clear(place)
            with contextlib.suppress(OSError):  # others of our processes are there
                place.parent.rmdir()
        for fd in self._locks:
            os.close(fd)
        self._places, self._locks = {}, []


class Cgroup:
    """The group of one bot. ``freeze``, ``thaw`` and ``cpu_ns`` cost microseconds."""

    def __init__(self, jobs: dict[str, Folder], folders: list[Folder]) -> None:
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
            _write(self._pids_max, pids)
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
        return _ids(self._threads_file)

    def processes(self) -> list[int]:
        """Return the ids of the processes that live in the group."""
        return _ids(self._procs_file)

    def strike(self, spare: int) -> None:
        """Kill what is in the group now, but for one process, and let that one run."""
        self.freeze()  # else a fork bomb outruns the list
        _kill_all(pid for pid in _ids(self._procs_file) if pid != spare)
        self.thaw()

    def kill(self) -> None:
        """Kill all of it, frozen or not, and wait until the group is empty."""
        deadline = time.monotonic() + _GONE_S
        while _ids(self._procs_file):
            if self._kill_file.exists():
                _write(self._kill_file, 1)
            else:
                self.strike(spare=0)
            _wait_a_little(self._procs_file.parent / "cgroup.events")
            if time.monotonic() > deadline:
                raise ServiceFault(f"{self._procs_file} is not empty after {_GONE_S} s")

    def remove(self) -> None:
        """Kill what is left, and give the folders back."""
        self.kill()
        for fd in self._fds:
            os.close(fd)
        self._fds = []
        deadline = time.monotonic() + _GONE_S
        for folder in self._folders:
            while folder.exists() and time.monotonic() < deadline:
                with contextlib.suppress(OSError):  # a zombie of it is still reaped
                    folder.rmdir()

    def _limit_memory(self, most: int) -> None:
        memory = self._memory.path
        if self._memory.v2:
            _write(memory / "memory.max", most)
            _write_if_there(memory / "memory.swap.max", 0)
            _write_if_there(memory / "memory.oom.group", 1)
        else:
            _write(memory / "memory.limit_in_bytes", most)
            _write_if_there(memory / "memory.memsw.limit_in_bytes", most)


def _settle(hierarchy: Hierarchy, token: str) -> tuple[Path, int]:
    """Make this process's folder in a hierarchy, and lock it. Raises OSError."""
    for _ in range(_TRIES):
        # Another of our processes may tidy up, or sweep what it takes for a dead one's.
        with contextlib.suppress(FileNotFoundError, BlockingIOError):
            place = _make_place(hierarchy, token)
            lock = _lock(place)
            if place.exists():
                return place, lock
            os.close(lock)
    place = _make_place(hierarchy, token)
    return place, _lock(place)


def _make_place(hierarchy: Hierarchy, token: str) -> Path:
    """Make this process's folder in a hierarchy, dead workers' folders swept."""
    here = hierarchy.here
    if here.name == _WORKER:  # another of our processes moved in before us
        here = here.parent
    ours = here / _OURS
    ours.mkdir(exist_ok=True)
    _sweep(ours)
    wanted = sorted({"memory", "pids"} & hierarchy.controllers)
    if hierarchy.version == 2:  # noqa: PLR2004
        _hand_down(here, wanted)
        _hand_down(ours, wanted)
    place = ours / token
    place.mkdir(exist_ok=True)
    if hierarchy.version == 2:  # noqa: PLR2004
        _hand_down(place, wanted)
    return place


def _sweep(ours: Path) -> None:
    """Clear the places whose owner no longer holds its lock."""
    for place in [p for p in ours.iterdir() if p.is_dir()]:
        with contextlib.suppress(OSError):  # its owner is alive, or another sweeps it
            fd = _lock(place)
            try:
                _clear(place)
            finally:
                os.close(fd)


def _clear(place: Path) -> None:
    """Kill everything in a place and remove it, as far as that can be done."""
    folders = [folder for folder in place.glob("*") if folder.is_dir()]
    for folder in [*folders, place]:
        deadline = time.monotonic() + _GONE_S
        while folder.exists() and time.monotonic() < deadline:
            _kill_all(_ids(folder / "cgroup.procs"))
            _write_if_there(folder / "freezer.state", "THAWED")
            with contextlib.suppress(OSError):
                folder.rmdir()


def _hand_down(folder: Path, controllers: Iterable[str]) -> None:
    """Let children of ``folder`` use the controllers (version 2).

    The kernel refuses that while processes stand in the folder itself; those are ours
    (a service's own folder), and move into a leaf beside the bots.
    """
    wanted = " ".join(f"+{name}" for name in controllers)
    if not wanted:
        return
    control = folder / "cgroup.subtree_control"
    if set(controllers) <= set(control.read_text().split()):
        return
    try:
        _write(control, wanted)
    except OSError:
        leaf = folder / _WORKER
        leaf.mkdir(exist_ok=True)
        for pid in _ids(folder / "cgroup.procs"):
            _write(leaf / "cgroup.procs", pid)
        _write(control, wanted)


def _lock(folder: Path) -> int:
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(fd)
        raise
    return fd


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


def _kill_all(pids: Iterable[int]) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _ids(path: Path) -> list[int]:
    try:
        return [int(word) for word in path.read_bytes().split()]
    except OSError:
        return []


def _write(path: Path, value: object) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(fd, str(value).encode())
    finally:
        os.close(fd)


def _write_if_there(path: Path, value: object) -> None:
    with contextlib.suppress(OSError):
        _write(path, value)
