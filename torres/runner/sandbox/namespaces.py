"""A sandbox of namespaces that the worker makes itself, as root: level ``full``.

It starts in a third of the time that Bubblewrap takes, and works on hosts that forbid
user namespaces to ordinary users.
"""

import os

from torres.runner.protocol import Limits
from torres.runner.sandbox.api import Level, Program
from torres.runner.sandbox.cgroup_manager import CgroupManager
from torres.runner.sandbox.host import Host
from torres.runner.sandbox.launch import engine_folder
from torres.runner.sandbox.staging import DEVICES
from torres.runner.sandbox.zygote_sandbox import (
    ENV,
    RLIMITS,
    SHM_BYTES,
    HostResources,
    ZygoteSandbox,
    absolute_path,
)
from torres.runner.zygote.messages import PrivateMounts, SharedRoot, SpawnOrder


class NamespaceSandbox(ZygoteSandbox):
    """Level ``full``, for a worker that is root and has control groups."""

    level: Level = "full"
    sockets = True
    supervisor_is_init = True

    def __init__(self, host: Host, cgroups: CgroupManager) -> None:
        super().__init__(host, cgroups)

    def _order(
        self, program: Program, limits: Limits, _own: HostResources
    ) -> SpawnOrder:
        executable, *arguments = program.command(limits)
        scratch = {"/dev/shm": SHM_BYTES, "/tmp": limits.tmp_mb << 20}  # noqa: S108
        if program.out_mb:
            scratch["/out"] = program.out_mb << 20
        return SpawnOrder(
            [absolute_path(executable), *arguments],
            env={**ENV, **program.env},
            cwd="/box",
            rlimits=RLIMITS,
            mounts=PrivateMounts(
                root=self._root(),
                program=str(self._stage.folder(program)),
                scratch=scratch,
            ),
            seccomp=True,
        )

    def _shared_root(self) -> SharedRoot:
        return SharedRoot(self._root(), DEVICES)

    def _root(self) -> str:
        return str(self._stage.root(engine_folder()))


def is_permitted() -> bool:
    """True if this process may make namespaces itself: it is root."""
    return os.geteuid() == 0
