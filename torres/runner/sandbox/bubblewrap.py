"""A sandbox made by Bubblewrap (bwrap): namespaces, seccomp, its own file system.

Any user can use it if the host allows user namespaces.
"""

from collections.abc import Mapping

from torres.runner.protocol import Limits
from torres.runner.sandbox.api import Program
from torres.runner.sandbox.cgroup_manager import CgroupManager
from torres.runner.sandbox.host import Host
from torres.runner.sandbox.staging import DEVICES, EMPTY_FILE, EMPTY_FOLDER, host_facts
from torres.runner.sandbox.zygote_sandbox import (
    DATA_LIMIT_FACTOR,
    ENV,
    RLIMITS,
    HostResources,
    ZygoteSandbox,
    scratch_sizes,
)
from torres.runner.zygote.messages import SpawnOrder

_NOBODY = "65534"
_ISOLATION = (
    "--as-pid-1", "--die-with-parent", "--new-session",
    "--unshare-user", "--uid", _NOBODY, "--gid", _NOBODY,
    "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts",
    "--unshare-cgroup-try", "--hostname", "box",
    "--disable-userns", "--assert-userns-disabled", "--cap-drop", "ALL", "--clearenv",
)  # fmt: skip


class BubblewrapSandbox(ZygoteSandbox):
    """Level ``full`` with control groups, ``reduced`` without.

    ``proc`` is False if the kernel lets nobody mount a new /proc: in a container that
    hides parts of its own.
    """

    sockets = True

    def __init__(
        self, host: Host, cgroups: CgroupManager | None, *, proc: bool = True
    ) -> None:
        super().__init__(host, cgroups)
        self.level = "full" if cgroups else "reduced"
        self._proc = proc

    def _order(
        self, program: Program, limits: Limits, _own: HostResources
    ) -> SpawnOrder:
        argv = [
            *("/usr/bin/bwrap", "--block-fd", "3", "--seccomp", "4", *_ISOLATION),
            *self._mounts(program, limits),
            *_environment({**ENV, **program.env}),
            *("--", *self._rlimits(limits), *program.command(limits)),
        ]
        return SpawnOrder(argv, env={}, rlimits=RLIMITS)

    def _mounts(self, program: Program, limits: Limits) -> list[str]:
        options = [
            *("--ro-bind", str(self._root()), "/"),
            *("--ro-bind", "/usr", "/usr"),
        ]
        if self._proc:
            # Read-only: by writing there, a bot could change how it is scheduled.
            options += ["--proc", "/proc"]
            for path in host_facts():
                empty = self._root() / (EMPTY_FOLDER if path.is_dir() else EMPTY_FILE)
                options += ["--ro-bind", str(empty), str(path)]
            options += ["--remount-ro", "/proc"]
        for name in DEVICES:
            options += ["--dev-bind", f"/dev/{name}", f"/dev/{name}"]
        options += self._scratch(program, limits)
        folder = str(self._stage.folder(program))
        options += ["--ro-bind", folder, "/box", "--chdir", "/box"]
        return options

    def _scratch(self, program: Program, limits: Limits) -> list[str]:
        """Return the options for writable folders: none without control groups.

        bwrap limits the bytes in a tmpfs, but not the number of empty files. Only a
        control group counts the memory that those take.
        """
        if self._cgroups is None:
            return []
        sizes = scratch_sizes(program, limits).items()
        return [
            word
            for path, size in sizes
            for word in ("--size", str(size), "--tmpfs", path)
        ]

    def _rlimits(self, limits: Limits) -> list[str]:
        """Return the command that limits each process if there is no control group.

        The kernel counts the processes of this user namespace alone.
        """
        if self._cgroups is not None:
            return []
        return [
            "/usr/bin/prlimit",
            f"--fsize={limits.tmp_mb << 20}",
            f"--nproc={limits.pids}",
            f"--data={DATA_LIMIT_FACTOR * limits.memory_mb << 20}",
            "--",
        ]


def _environment(env: Mapping[str, str]) -> list[str]:
    return [word for item in env.items() for word in ("--setenv", *item)]
