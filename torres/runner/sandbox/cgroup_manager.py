"""The folder of this process in each cgroup hierarchy, with a group for each bot.

The folder is locked as long as the process lives. A worker that starts removes the
folders of dead workers, and kills what is left in them.
"""

import contextlib
import itertools
import os
import secrets
import time
from collections.abc import Iterable
from pathlib import Path

from engine.referee import ServiceFault
from torres.common.locks import lock
from torres.common.pause import pause
from torres.runner.sandbox import cgroup
from torres.runner.sandbox.cgroup_mounts import JOBS, Hierarchy, assign, find

_PARENT_NAME = "torres"
"""The folder that contains the folders of all workers."""
_LEAF_NAME = "torres-worker"
"""The folder that a worker's own processes move to; see ``_delegate``."""
_RETRY_PAUSE_S = 0.002
"""The pause before a second attempt if another process interfered with the first."""


class NoCgroups(Exception):
    """This process cannot make control groups; the message says why."""


class CgroupManager:
    """Makes control groups for bots. Any number of threads may share one manager."""

    def __init__(self, jobs: dict[str, Hierarchy]) -> None:
        self._jobs = jobs
        self._names = itertools.count(1)
        self._locks: list[int] = []
        token = f"{os.getpid()}-{secrets.token_hex(4)}"
        self._folders: dict[Path, Path] = {}
        """Our folder in each hierarchy, by the hierarchy's ``here``."""
        try:
            for hierarchy in {h.here: h for h in jobs.values()}.values():
                folder, folder_lock = _make_locked_folder(hierarchy, token)
                self._folders[hierarchy.here] = folder
                self._locks.append(folder_lock)
        except OSError as why:
            self.close()
            raise NoCgroups(f"{why.strerror}: {why.filename}") from why

    @classmethod
    def open(cls) -> "CgroupManager":
        """Make this process's folders, and remove those of dead workers.

        Raises NoCgroups.
        """
        try:
            jobs = assign(find())
        except (OSError, ValueError) as why:
            raise NoCgroups(f"no control groups are mounted: {why}") from why
        missing = [job for job in JOBS if job not in jobs]
        if missing:
            raise NoCgroups(f"no control group offers {', '.join(missing)}")
        return cls(jobs)

    @property
    def version(self) -> str:
        """The versions in use: "1", "2" or "1+2"."""
        return "+".join(sorted({str(h.version) for h in self._jobs.values()}))

    def make(self) -> cgroup.Cgroup:
        """Make the group of one bot, without limits yet. Raises ServiceFault."""
        name = str(next(self._names))
        jobs = {
            job: cgroup.CgroupFolder(
                self._folders[hierarchy.here] / name, hierarchy.version
            )
            for job, hierarchy in self._jobs.items()
        }
        folders = list(dict.fromkeys(jobs.values()))
        try:
            for folder in folders:
                folder.path.mkdir()
            return cgroup.Cgroup(jobs, folders)
        except OSError as why:
            for folder in folders:
                with contextlib.suppress(OSError):
                    folder.path.rmdir()
            raise ServiceFault(f"No control group could be made: {why}.") from why

    def close(self) -> None:
        """Remove this process's folders; kill bots that still run in them."""
        for folder in self._folders.values():
            _remove(folder)
            with contextlib.suppress(OSError):  # Other workers have folders there.
                folder.parent.rmdir()
        for fd in self._locks:
            os.close(fd)
        self._folders = {}
        self._locks = []


def _make_locked_folder(hierarchy: Hierarchy, token: str) -> tuple[Path, int]:
    """Make and lock this process's folder in a hierarchy. Raises OSError.

    Try again if another worker removes the folder before it is locked: it may remove
    the parent on its exit, or take the unlocked folder for that of a dead worker.
    """
    deadline = time.monotonic() + cgroup.KILL_TIMEOUT_S
    while True:
        try:
            folder = _make_folder(hierarchy, token)
            folder_lock = lock(folder, folder=True)
            if folder.exists():
                return folder, folder_lock
            os.close(folder_lock)
        except (FileNotFoundError, FileExistsError, BlockingIOError):
            if time.monotonic() > deadline:
                raise
        pause(_RETRY_PAUSE_S)


def _make_folder(hierarchy: Hierarchy, token: str) -> Path:
    """Remove the folders of dead workers in a hierarchy, and make this process's."""
    here = hierarchy.here
    if here.name == _LEAF_NAME:  # Another worker of this service moved us before.
        here = here.parent
    parent = here / _PARENT_NAME
    parent.mkdir(exist_ok=True)
    _remove_dead(parent)
    controllers = sorted({"memory", "pids"} & hierarchy.controllers)
    if hierarchy.version == 2:
        _delegate(here, controllers)
        _delegate(parent, controllers)
    folder = parent / token
    folder.mkdir(exist_ok=True)
    if hierarchy.version == 2:
        _delegate(folder, controllers)
    return folder


def _remove_dead(parent: Path) -> None:
    """Remove the folders of workers that no longer hold their lock."""
    for folder in [path for path in parent.iterdir() if path.is_dir()]:
        # An OSError: its worker is alive, or another worker removes it now.
        with contextlib.suppress(OSError):
            fd = lock(folder, folder=True)
            try:
                _remove(folder)
            finally:
                os.close(fd)


def _remove(parent: Path) -> None:
    """Kill everything in the groups of a worker, and remove them, if possible."""
    groups = [path for path in parent.glob("*") if path.is_dir()]
    for folder in [*groups, parent]:
        deadline = time.monotonic() + cgroup.KILL_TIMEOUT_S
        while folder.exists() and time.monotonic() < deadline:
            cgroup.kill_all(cgroup.ids(folder / "cgroup.procs"))
            cgroup.write_if_possible(folder / "freezer.state", "THAWED")
            with contextlib.suppress(OSError):
                folder.rmdir()


def _delegate(folder: Path, controllers: Iterable[str]) -> None:
    """Let the child groups of ``folder`` use the controllers (version 2).

    The kernel refuses that while processes are in the folder itself. If the folder is
    that of a service, those are the worker's own processes; move them to a leaf
    beside the bots' groups.
    """
    switches = " ".join(f"+{name}" for name in controllers)
    if not switches:
        return
    control = folder / "cgroup.subtree_control"
    if set(controllers) <= set(control.read_text().split()):
        return
    try:
        cgroup.write(control, switches)
    except OSError:
        leaf = folder / _LEAF_NAME
        leaf.mkdir(exist_ok=True)
        for pid in cgroup.ids(folder / "cgroup.procs"):
            cgroup.write(leaf / "cgroup.procs", pid)
        cgroup.write(control, switches)
