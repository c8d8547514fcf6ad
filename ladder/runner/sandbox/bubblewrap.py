"""Boxing a bot in Bubblewrap: namespaces, the filter, its own file system."""

from collections.abc import Mapping, Sequence

from ladder.runner.protocol import Limits
from ladder.runner.sandbox.api import Program
from ladder.runner.sandbox.cgroup_manager import CgroupManager
from ladder.runner.sandbox.host import Host
from ladder.runner.sandbox.launch import engine_folder
from ladder.runner.sandbox.spawner import SpawnOrder
from ladder.runner.sandbox.staging import DEVICES
from ladder.runner.sandbox.zygote_sandbox import (
    DATA_TIMES,
    ENV,
    RLIMITS,
    SHM_BYTES,
    ZygoteSandbox,
)

_NOBODY = "65534"
_ISOLATION = (
    "--as-pid-1", "--die-with-parent", "--new-session",
    "--unshare-user", "--uid", _NOBODY, "--gid", _NOBODY,
    "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts",
    "--unshare-cgroup-try", "--hostname", "box",
    "--disable-userns", "--assert-userns-disabled", "--cap-drop", "ALL", "--clearenv",
)  # fmt: skip


class BubblewrapSandbox(ZygoteSandbox):
    """Level full with control groups, reduced without.

    ``proc`` is False where the kernel lets nobody mount a new /proc: in a container
    that hides parts of its own.
    """

    sockets = True

    def __init__(
        self, host: Host, cgroups: CgroupManager | None, *, proc: bool = True
    ) -> None:
        super().__init__(host, cgroups)
        self.level = "full" if cgroups else "reduced"
        self._proc = proc

    def _order(self, box: Program, limits: Limits) -> SpawnOrder:
        words = [
            *("/usr/bin/bwrap", "--block-fd", "3", "--seccomp", "4", *_ISOLATION),
            *self._mounts(box, limits),
            *_environment({**ENV, **box.env}),
            *("--", *self._rlimits(limits), *box.command(limits)),
        ]
        return SpawnOrder(words, rlimits=RLIMITS)

    def _mounts(self, box: Program, limits: Limits) -> list[str]:
        groups: list[Sequence[str]] = [
            ("--ro-bind", str(self._stage.root(engine_folder())), "/"),
            ("--ro-bind", "/usr", "/usr"),
            *[("--proc", "/proc")][: self._proc],
            *(("--dev-bind", f"/dev/{name}", f"/dev/{name}") for name in DEVICES),
            *self._scratch(box, limits),
            ("--ro-bind", str(self._stage.box(box)), "/box", "--chdir", "/box"),
        ]
        return [word for group in groups for word in group]

    def _scratch(self, box: Program, limits: Limits) -> list[Sequence[str]]:
        """Return the writable places: none where no control group counts their files.

        A file system in memory is limited in bytes, but not in empty files.
        """
        if self._cgroups is None:
            return []
        return [
            ("--size", str(SHM_BYTES), "--tmpfs", "/dev/shm"),  # noqa: S108
            ("--size", str(limits.tmp_mb << 20), "--tmpfs", "/tmp"),  # noqa: S108
            *[("--size", str(box.out_mb << 20), "--tmpfs", "/out")][: box.out_mb],
        ]

    def _rlimits(self, limits: Limits) -> list[str]:
        """Return the command that limits each process of a box without a group.

        In the box the kernel counts the processes of this box alone.
        """
        if self._cgroups is not None:
            return []
        return [
            "/usr/bin/prlimit",
            f"--fsize={limits.tmp_mb << 20}",
            f"--nproc={limits.pids}",
            f"--data={DATA_TIMES * limits.memory_mb << 20}",
            "--",
        ]


def _environment(env: Mapping[str, str]) -> list[str]:
    return [word for item in env.items() for word in ("--setenv", *item)]
