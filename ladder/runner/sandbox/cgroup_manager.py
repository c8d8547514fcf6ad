"""This process's place among the control groups, in which its bots get theirs.

It is a folder in each hierarchy, locked as long as the process lives; folders of dead
workers are swept by the next one that starts.
"""

import contextlib
import itertools
import os
import secrets
import select
import time
from collections.abc import Iterable
from pathlib import Path

from engine.referee import ServiceFault
from ladder.common.locks import lock
from ladder.runner.sandbox.cgroup import (
    GONE_S,
    Cgroup,
    CgroupFolder,
    ids,
    kill_all,
    write,
    write_if_there,
)
from ladder.runner.sandbox.cgroup_mounts import JOBS, Hierarchy, assign, find

_OURS = "torres"
_WORKER = "torres-worker"
_PAUSE_S = 0.002
"""Before a place is tried again that another process was in the way of."""


class NoCgroups(Exception):
    """A group for each bot cannot be had here; the message says why."""


class CgroupManager:
    """This process's place in the hierarchies. Good for any number of its threads."""

    def __init__(self, jobs: dict[str, Hierarchy]) -> None:
        self._jobs = jobs
        self._names = itertools.count(1)
        self._locks: list[int] = []
        token = f"{os.getpid()}-{secrets.token_hex(4)}"
        self._places: dict[Path, Path] = {}
        try:
            for hierarchy in {h.here: h for h in jobs.values()}.values():
                place, held = _settle(hierarchy, token)
                self._places[hierarchy.here] = place
                self._locks.append(held)
        except OSError as why:
            self.close()
            raise NoCgroups(f"{why.strerror}: {why.filename}") from why

    @classmethod
    def open(cls) -> "CgroupManager":
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
            job: CgroupFolder(self._places[hierarchy.here] / name, hierarchy.version)
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


def _settle(hierarchy: Hierarchy, token: str) -> tuple[Path, int]:
    """Make this process's folder in a hierarchy, and lock it. Raises OSError."""
    deadline = time.monotonic() + GONE_S
    while True:
        # Another of our processes may tidy up, or sweep what it takes for a dead one's.
        try:
            place = _make_place(hierarchy, token)
            held = lock(place, folder=True)
            if place.exists():
                return place, held
            os.close(held)
        except (FileNotFoundError, FileExistsError, BlockingIOError):
            if time.monotonic() > deadline:
                raise
        select.select([], [], [], _PAUSE_S)


def _make_place(hierarchy: Hierarchy, token: str) -> Path:
    """Make this process's folder in a hierarchy, dead workers' folders swept."""
    here = hierarchy.here
    if here.name == _WORKER:  # another of our processes moved in before us
        here = here.parent
    ours = here / _OURS
    ours.mkdir(exist_ok=True)
    _sweep(ours)
    wanted = sorted({"memory", "pids"} & hierarchy.controllers)
    if hierarchy.version == 2:
        _hand_down(here, wanted)
        _hand_down(ours, wanted)
    place = ours / token
    place.mkdir(exist_ok=True)
    if hierarchy.version == 2:
        _hand_down(place, wanted)
    return place


def _sweep(ours: Path) -> None:
    """Clear the places whose owner no longer holds its lock."""
    for place in [p for p in ours.iterdir() if p.is_dir()]:
        with contextlib.suppress(OSError):  # its owner is alive, or another sweeps it
            fd = lock(place, folder=True)
            try:
                _clear(place)
            finally:
                os.close(fd)


def _clear(place: Path) -> None:
    """Kill everything in a place and remove it, as far as that can be done."""
    folders = [folder for folder in place.glob("*") if folder.is_dir()]
    for folder in [*folders, place]:
        deadline = time.monotonic() + GONE_S
        while folder.exists() and time.monotonic() < deadline:
            kill_all(ids(folder / "cgroup.procs"))
            write_if_there(folder / "freezer.state", "THAWED")
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
        write(control, wanted)
    except OSError:
        leaf = folder / _WORKER
        leaf.mkdir(exist_ok=True)
        for pid in ids(folder / "cgroup.procs"):
            write(leaf / "cgroup.procs", pid)
        write(control, wanted)
