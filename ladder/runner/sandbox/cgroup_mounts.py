"""Where the kernel's cgroup hierarchies are mounted, and where we stand in them.

Three layouts are met: version 2 alone, version 1 alone, and both ("hybrid"), where
version 2 may freeze, kill and tell the time although memory and pids are with
version 1. Each job goes to the best hierarchy that can do it.
"""

import os
from dataclasses import dataclass
from pathlib import Path

JOBS = ("memory", "pids", "freezer", "cpuacct")


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """One mounted hierarchy: its version, this process's folder, its controllers."""

    version: int
    here: Path
    controllers: frozenset[str]


def find() -> list[Hierarchy]:
    """Return the hierarchies that this process is in and can see, version 2 first."""
    mounts = _mounts()
    found = []
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        number, names, path = line.split(":", 2)
        controllers = frozenset(names.split(",")) if names else frozenset({""})
        for mount in mounts:
            if number == "0" and mount.kind == "cgroup2":
                found.append(
                    Hierarchy(2, mount.place(path), _controllers2(mount, path))
                )
                break
            if names and mount.kind == "cgroup" and controllers <= mount.options:
                found.append(Hierarchy(1, mount.place(path), controllers))
                break
    return sorted(found, key=lambda h: -h.version)


def assign(hierarchies: list[Hierarchy]) -> dict[str, Hierarchy]:
    """Return which hierarchy does each of the ``JOBS``; one that none can is left out.

    Version 2 freezes, kills and accounts without any controller, and does it better:
    its frozen processes still die, so that no dead worker leaves one behind.
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

    def place(self, path: str) -> Path:
        """Return where a process's ``path`` is; the mount may show a part only."""
        inside = os.path.relpath(path, self.root)
        if inside.startswith(".."):
            return self.point
        return (self.point / inside).resolve()


def _mounts() -> list[_Mount]:
    found = []
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        before, _, after = line.partition(" - ")
        kind, _, options = after.split(" ", 2)
        if kind in {"cgroup", "cgroup2"}:
            root, point = before.split(" ")[3:5]
            found.append(_Mount(kind, root, Path(point), frozenset(options.split(","))))
    return found


def _controllers2(mount: _Mount, path: str) -> frozenset[str]:
    try:
        return frozenset((mount.place(path) / "cgroup.controllers").read_text().split())
    except OSError:
        return frozenset()
