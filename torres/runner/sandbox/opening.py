"""Open a sandbox of a level, or refuse and say what to do about it.

``probe`` tries every control once for each process; ``torres doctor`` prints its
report.
"""

import os
import shutil
import sys
from contextlib import closing
from dataclasses import replace
from functools import cache

from torres.runner.sandbox import landlock, namespaces
from torres.runner.sandbox.api import (
    LEVELS,
    Control,
    Level,
    Sandbox,
    SandboxReport,
    SandboxUnavailable,
)
from torres.runner.sandbox.bubblewrap import BubblewrapSandbox
from torres.runner.sandbox.cgroup_manager import CgroupManager, NoCgroups
from torres.runner.sandbox.gvisor import GvisorSandbox
from torres.runner.sandbox.host import Host
from torres.runner.sandbox.landlock import LandlockSandbox
from torres.runner.sandbox.namespaces import NamespaceSandbox
from torres.runner.sandbox.probing import NEED_CGROUPS, START, can_start, try_controls
from torres.runner.sandbox.seccomp import NoFilter, open_filter
from torres.runner.sandbox.unconfined import UnconfinedSandbox
from torres.runner.zygote.landlock import version as landlock_version

_NAMESPACES = "own namespaces"
_BWRAP_PACKAGES = {"bwrap": "bubblewrap", "prlimit": "util-linux"}
"""The programs that BubblewrapSandbox needs, and their Debian packages."""
_ONLY_FULL = frozenset(
    {
        *("memory limit", "processor time", "freezing"),
        *(NEED_CGROUPS, _NAMESPACES, *_BWRAP_PACKAGES),
    }
)
"""The controls that level ``full`` needs and level ``reduced`` does not."""
_CURE_CGROUPS = (
    "run the worker as root, or as a user to whom a systemd scope is delegated:"
    " systemd-run --user --scope -p Delegate=yes …; in a container, give it a"
    " writable cgroup file system"
)
_CURE_NAMESPACES = (
    "allow user namespaces: sysctl kernel.unprivileged_userns_clone=1,"
    " user.max_user_namespaces above 0, on Ubuntu the AppArmor profile"
    " bwrap-userns-restrict; in a container, security options that allow them"
)


def open_sandbox(level: Level) -> Sandbox:
    """Return a sandbox of at least ``level``. Raises SandboxUnavailable."""
    if level == "none":
        return UnconfinedSandbox()
    reached = probe(level)
    if LEVELS.index(reached.level) < LEVELS.index(level):
        raise SandboxUnavailable(
            f"The sandbox reaches level {reached.level} here, not {level}."
            f" {reached.reasons()}. Run torres doctor for details."
        )
    if level == "isolated":
        return GvisorSandbox(Host.from_environment(), CgroupManager.open())
    return _strongest()


def probe(wanted: Level = "full") -> SandboxReport:
    """Try every control on this machine; return the same report for later calls.

    Level ``isolated`` is tried only if it is wanted: a kernel for each bot costs time,
    so nobody gets it unasked.
    """
    return _probe_isolated() if wanted == "isolated" else _probe()


@cache
def _probe() -> SandboxReport:
    requirements = _requirements()
    if not all(control.held for control in requirements):
        return SandboxReport("none", tuple(requirements))
    cgroups = _cgroups_control()
    sandbox = _strongest()
    with closing(sandbox):
        namespaces_made = _namespace_controls(sandbox)
        tried = try_controls(sandbox)
    controls = [*requirements, cgroups, *namespaces_made, *tried]
    with_cures = tuple(_with_cure(control) for control in controls)
    return SandboxReport(_level(with_cures), with_cures)


@cache
def _probe_isolated() -> SandboxReport:
    """Try every control with gVisor; if one is not held, the level is a lower one."""
    parts = [_part("runsc", "runsc"), _part("bwrap", "bubblewrap")]
    requirements = [*_requirements(), *parts, _cgroups_control()]
    if not all(control.held for control in requirements):
        return _below_isolated(requirements)
    with closing(GvisorSandbox(Host.from_environment(), CgroupManager.open())) as own:
        controls = [*requirements, *try_controls(own)]
    if not all(control.held for control in controls):
        return _below_isolated(controls)
    return SandboxReport("isolated", tuple(controls))


def _below_isolated(controls: list[Control]) -> SandboxReport:
    """Return the report of ``_probe`` with those of gVisor's controls that failed."""
    below = _probe()
    failed = [
        replace(_with_cure(control), name=f"gVisor: {control.name}")
        for control in controls
        if not control.held
    ]
    return replace(below, controls=(*below.controls, *failed))


def _level(controls: tuple[Control, ...]) -> Level:
    """Return the best level that these controls allow."""
    failed = {control.name for control in controls if not control.held}
    if not failed:
        return "full"
    return "reduced" if failed <= _ONLY_FULL else "none"


def _strongest() -> Sandbox:
    """Return the strongest sandbox that this process can make.

    Try in this order: own namespaces, Bubblewrap, Bubblewrap without /proc, Landlock.
    If none works, return a Bubblewrap sandbox; its first start says why it fails.
    """
    host = Host.from_environment()
    cgroups = _open_cgroups() if namespaces.is_permitted() else None
    if cgroups is not None:
        own = NamespaceSandbox(host, cgroups)
        if can_start(own):
            return own
        own.close()
    if all(_path_of(program) for program in _BWRAP_PACKAGES):
        for proc in (True, False):
            sandbox = BubblewrapSandbox(host, _open_cgroups(), proc=proc)
            if can_start(sandbox):
                return sandbox
            sandbox.close()
    if landlock.is_supported():
        return LandlockSandbox(host)
    return BubblewrapSandbox(host, _open_cgroups())


def _open_cgroups() -> CgroupManager | None:
    try:
        return CgroupManager.open()
    except NoCgroups:
        return None


def _namespace_controls(sandbox: Sandbox) -> list[Control]:
    """Return what makes the namespaces; list bwrap only if the worker does not."""
    if isinstance(sandbox, NamespaceSandbox):
        return [Control(_NAMESPACES, held=True, how="made by the worker, as root")]
    parts = [_part(name, package) for name, package in _BWRAP_PACKAGES.items()]
    if isinstance(sandbox, BubblewrapSandbox):
        return [*parts, Control(_NAMESPACES, held=True, how="made by bwrap")]
    version = landlock_version()
    how = f"bwrap cannot make namespaces here; Landlock {version} confines the bots"
    return [*parts, Control(_NAMESPACES, held=False, how=how, cure=_CURE_NAMESPACES)]


def _requirements() -> list[Control]:
    """Return the parts without which no sandbox can be tried."""
    if sys.platform != "linux":
        return [Control("Linux", held=False, how=sys.platform, cure="use Linux")]
    return [_part("python3", "python3"), _filter()]


def _part(name: str, package: str) -> Control:
    path = _path_of(name)
    how = path or "not in /usr/bin"
    cure = f"apt-get install {package}"
    return Control(name, held=path is not None, how=how, cure=cure)


def _path_of(program: str) -> str | None:
    return shutil.which(program, path="/usr/bin")


def _filter() -> Control:
    try:
        os.close(open_filter())
    except NoFilter as why:
        cure = "apt-get install libseccomp2"
        return Control("seccomp", held=False, how=str(why), cure=cure)
    return Control("seccomp", held=True, how="the filter was built")


def _cgroups_control() -> Control:
    try:
        cgroups = CgroupManager.open()
    except NoCgroups as why:
        return Control(NEED_CGROUPS, held=False, how=str(why))
    version = cgroups.version
    cgroups.close()
    return Control(NEED_CGROUPS, held=True, how=f"cgroup version {version}")


def _with_cure(control: Control) -> Control:
    """Return the control with a cure for a missing cgroup or a failed start."""
    cures = {NEED_CGROUPS: _CURE_CGROUPS, START: _CURE_NAMESPACES}
    cure = cures.get(control.name, control.cure)
    if control.cure == NEED_CGROUPS:
        cure = _CURE_CGROUPS
    return Control(control.name, control.held, control.how, cure)
