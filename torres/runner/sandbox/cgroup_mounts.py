"""Mount points of the kernel's cgroup hierarchies, and this process's groups.

There are three layouts: version 2 alone, version 1 alone, and both ("hybrid"). In the
hybrid layout version 2 can freeze, kill and count CPU time even if version 1 has the
controllers for memory and pids. Each job goes to the best hierarchy that can do it.
"""

import os
from dataclasses import dataclass
from pathlib import Path

JOBS = ("memory", "pids", "freezer", "cpuacct")


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """One mounted hierarchy. ``here`` is the folder of this process's group in it."""

    version: int
    here: Path
    controllers: frozenset[str]


def find() -> list[Hierarchy]:
    """Return the hierarchies that this process can see, version 2 first."""
    mounts = _mounts()
    hierarchies = []
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        number, names, path = line.split(":", 2)
        controllers = frozenset(names.split(",")) if names else frozenset({""})
        for mount in mounts:
            if number == "0" and mount.kind == "cgroup2":
                here = mount.folder(path)
                hierarchies.append(Hierarchy(2, here, _controllers_v2(here)))
                break
            if names and mount.kind == "cgroup" and controllers <= mount.options:
                hierarchies.append(Hierarchy(1, mount.folder(path), controllers))
                break
    return sorted(hierarchies, key=lambda hierarchy: -hierarchy.version)


def assign(hierarchies: list[Hierarchy]) -> dict[str, Hierarchy]:
    """Return the hierarchy for each of the ``JOBS``; leave out a job that none can do.

    Version 2 freezes, kills and counts CPU time without any controller. It is
    preferred, because a frozen process of version 2 can still be killed, so that a
    dead worker leaves no process behind.
    """
    jobs: dict[str, Hierarchy] = {}
    for job in JOBS:
        for hierarchy in hierarchies:
            can = job in hierarchy.controllers
            if hierarchy.version == 2 and job in {"freezer", "cpuacct"}:
                can = (hierarchy.here / "cgroup.controllers").exists()
            if can:
                jobs.setdefault(job, hierarchy)
    return jobs


@dataclass(frozen=True, slots=True)
class _Mount:
    kind: str
    root: str
    point: Path
    options: frozenset[str]

    def folder(self, path: str) -> Path:
        """Return the folder of the group ``path`` (as in /proc/self/cgroup).

        The mount may show only a part of the hierarchy. If the group is outside of
        that part, return the mount point.
        """
        relative = os.path.relpath(path, self.root)
        if relative.startswith(".."):
            return self.point
        return (self.point / relative).resolve()


def _mounts() -> list[_Mount]:
    mounts = []
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        before, _, after = line.partition(" - ")
        kind, _, options = after.split(" ", 2)
        if kind in {"cgroup", "cgroup2"}:
            root, point = before.split(" ")[3:5]
            names = frozenset(options.split(","))
            mounts.append(_Mount(kind, root, Path(point), names))
    return mounts


def _controllers_v2(folder: Path) -> frozenset[str]:
    try:
        return frozenset((folder / "cgroup.controllers").read_text().split())
    except OSError:
        return frozenset()
