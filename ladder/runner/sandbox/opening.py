"""Opening a sandbox of a level, or refusing with what to do about it."""

import os
import shutil
import sys
from functools import cache

from ladder.runner.sandbox import landlock, namespaces
from ladder.runner.sandbox.api import (
    LEVELS,
    Control,
    Level,
    Sandbox,
    SandboxReport,
    SandboxUnavailable,
)
from ladder.runner.sandbox.bubblewrap import BubblewrapSandbox
from ladder.runner.sandbox.cgroup_manager import CgroupManager, NoCgroups
from ladder.runner.sandbox.host import Host
from ladder.runner.sandbox.landlock import LandlockSandbox
from ladder.runner.sandbox.namespaces import NamespaceSandbox
from ladder.runner.sandbox.probing import NEED_GROUPS, makes_boxes, try_out
from ladder.runner.sandbox.seccomp import NoFilter, open_filter
from ladder.runner.sandbox.unconfined import UnconfinedSandbox
from ladder.runner.zygote.landlock import version as landlock_version

_NAMESPACES = "own namespaces"
_BOXING = {"bwrap": "bubblewrap", "prlimit": "util-linux"}
_NOT_REDUCED = frozenset(
    {"memory limit", "processor time", "freezing", NEED_GROUPS, _NAMESPACES, *_BOXING}
)
"""What level reduced does without."""
_CURE_GROUPS = (
    "run the worker as root, or as a user to whom a systemd scope is delegated:"
    " systemd-run --user --scope -p Delegate=yes …; in a container, give it a"
    " writable cgroup file system"
)
_CURE_BOX = (
    "allow user namespaces: sysctl kernel.unprivileged_userns_clone=1,"
    " user.max_user_namespaces above 0, on Ubuntu the AppArmor profile"
    " bwrap-userns-restrict; in a container, security options that allow them"
)


def open_sandbox(level: Level) -> Sandbox:
    """Return a sandbox of at least ``level``. Raises SandboxUnavailable."""
    if level == "none":
        return UnconfinedSandbox()
    reached = probe()
    if LEVELS.index(reached.level) < LEVELS.index(level):
        raise SandboxUnavailable(
            f"The sandbox reaches level {reached.level} here, not {level}."
            f" {reached.reasons()}. torres doctor says more."
        )
    return _best()


@cache
def probe() -> SandboxReport:
    """Try every control on this machine, once for this process, and judge."""
    needs = _needs()
    if not all(need.held for need in needs):
        return SandboxReport("none", tuple(needs))
    groups = _groups()
    sandbox = _best()
    try:
        made = _namespaces(sandbox)
        controls = [*needs, groups, *made, *try_out(sandbox)]
    finally:
        sandbox.close()
    cured = tuple(_with_cure(control) for control in controls)
    return SandboxReport(_judge(cured), cured)


def _judge(controls: tuple[Control, ...]) -> Level:
    failed = {control.name for control in controls if not control.held}
    if not failed:
        return "full"
    return "reduced" if failed <= _NOT_REDUCED else "none"


def _best() -> Sandbox:
    """Return the strongest sandbox that can be made here."""
    host = Host.from_environment()
    if namespaces.may() and (groups := _cgroups()):
        own = NamespaceSandbox(host, groups)
        if makes_boxes(own):
            return own
        own.close()
    for proc in (True, False) if all(map(_where, _BOXING)) else ():
        sandbox = BubblewrapSandbox(host, _cgroups(), proc=proc)
        if makes_boxes(sandbox):
            return sandbox
        sandbox.close()
    if landlock.enough():
        return LandlockSandbox(host)
    return BubblewrapSandbox(host, _cgroups())  # says why it makes no box


def _cgroups() -> CgroupManager | None:
    try:
        return CgroupManager.open()
    except NoCgroups:
        return None


def _namespaces(sandbox: Sandbox) -> list[Control]:
    """Return who makes them; Bubblewrap is asked for only where root cannot."""
    if isinstance(sandbox, NamespaceSandbox):
        return [Control(_NAMESPACES, held=True, how="made by the worker, as root")]
    parts = [_part(name, package) for name, package in _BOXING.items()]
    if isinstance(sandbox, BubblewrapSandbox):
        return [*parts, Control(_NAMESPACES, held=True, how="made by bwrap")]
    version = landlock_version()
    how = f"bwrap makes no box here; Landlock, version {version}, holds the bots"
    return [*parts, Control(_NAMESPACES, held=False, how=how, cure=_CURE_BOX)]


def _needs() -> list[Control]:
    """Return whether the parts are there without which no box can be tried."""
    if sys.platform != "linux":
        return [Control("Linux", held=False, how=sys.platform, cure="use Linux")]
    return [_part("python3", "python3"), _filter()]


def _part(name: str, package: str) -> Control:
    where = _where(name)
    how, cure = where or "not in /usr/bin", f"apt-get install {package}"
    return Control(name, held=where is not None, how=how, cure=cure)


def _where(program: str) -> str | None:
    return shutil.which(program, path="/usr/bin")


def _filter() -> Control:
    try:
        os.close(open_filter())
    except NoFilter as why:
        cure = "apt-get install libseccomp2"
        return Control("seccomp", held=False, how=str(why), cure=cure)
    return Control("seccomp", held=True, how="the filter was built")


def _groups() -> Control:
    try:
        groups = CgroupManager.open()
    except NoCgroups as why:
        return Control(NEED_GROUPS, held=False, how=str(why))
    version = groups.version
    groups.close()
    return Control(NEED_GROUPS, held=True, how=f"cgroup version {version}")


def _with_cure(control: Control) -> Control:
    cures = {NEED_GROUPS: _CURE_GROUPS, "a box": _CURE_BOX}
    cure = cures.get(control.name, control.cure)
    if control.cure == NEED_GROUPS:
        cure = _CURE_GROUPS
    return Control(control.name, control.held, control.how, cure)
