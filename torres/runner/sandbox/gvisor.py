"""A sandbox with a kernel of its own, made by gVisor (runsc): level ``isolated``.

The bot's system calls end in gVisor's kernel, a program that runs under the bot's user
id and is confined by itself. So a hole in the kernel of the host is out of the bot's
reach. The price is time: a start takes about 0.2 s more, and each system call some
microseconds (README.md in this folder has the figures).
"""

import json

from torres.runner.protocol import Limits
from torres.runner.sandbox.api import Level, Program
from torres.runner.sandbox.seccomp import oci_filter
from torres.runner.sandbox.zygote_sandbox import (
    ENV,
    MAX_FILES,
    NO_CORE_FILES,
    HostResources,
    ZygoteSandbox,
    absolute_path,
    scratch_sizes,
)
from torres.runner.zygote.messages import SpawnOrder

RUNSC = "/usr/bin/runsc"
_OUTER = (
    *("/usr/bin/bwrap", "--die-with-parent", "--unshare-user", "--uid", "0"),
    *("--gid", "0", "--cap-add", "ALL", "--unshare-pid", "--as-pid-1", "--unshare-net"),
    *("--dev", "/dev", "--proc", "/proc", "--dir", "/tmp"),  # noqa: S108 - its own
)
"""gVisor itself runs in namespaces: with its first process all others end, and none
stays as a zombie; its control socket, which has a name in the network namespace, is for
nobody; and it sees the files of its bot only."""
_OPTIONS = (
    "--rootless", "--ignore-cgroups", "--network=none", "--platform=ptrace",
    "--oci-seccomp",
    # Nobody changes these files while the bot runs, so gVisor may remember them.
    "--file-access-mounts=exclusive",
)  # fmt: skip
_NOBODY = 65_534
_INNER_NAMESPACES = ("pid", "network", "ipc", "uts", "mount")
_NAME = "bot"
"""The name of the container in gVisor's own state, which each bot has for itself."""


class GvisorSandbox(ZygoteSandbox):
    """Level ``isolated``, for a worker that has control groups."""

    level: Level = "isolated"
    sockets = True
    own_memory_mb = 64
    own_pids = 48
    pids_each = 5

    def _order(
        self, program: Program, limits: Limits, own: HostResources
    ) -> SpawnOrder:
        folder = self._stage.own_folder(own.uid, own.cleanup)
        own.complete = folder / "pid"
        (folder / "config.json").write_text(json.dumps(self._config(program, limits)))
        visible = ["/usr", str(self._root()), str(self._stage.folder(program))]
        argv = [
            *_OUTER,
            *(word for path in visible for word in ("--ro-bind", path, path)),
            *("--bind", str(folder), str(folder), "--"),
            *(RUNSC, *_OPTIONS, "--root", str(folder)),
            *("run", "--bundle", str(folder), "--pid-file", str(own.complete), _NAME),
        ]
        return SpawnOrder(argv, env={}, rlimits=[NO_CORE_FILES])

    def _config(self, program: Program, limits: Limits) -> dict[str, object]:
        """Return the container's description, as the OCI runtime specification says."""
        executable, *arguments = program.command(limits)
        env = {**ENV, **program.env}
        scratch = scratch_sizes(program, limits)
        return {
            "ociVersion": "1.0.0",
            "hostname": "box",
            "root": {"path": str(self._root()), "readonly": True},
            "process": {
                "args": [absolute_path(executable), *arguments],
                "env": [f"{name}={value}" for name, value in env.items()],
                "cwd": "/box",
                "user": {"uid": _NOBODY, "gid": _NOBODY},
                "noNewPrivileges": True,
                "rlimits": [
                    {"type": "RLIMIT_NOFILE", "soft": MAX_FILES, "hard": MAX_FILES}
                ],
            },
            "mounts": [
                {"destination": "/proc", "type": "proc", "source": "proc"},
                _bind("/usr", "/usr"),
                _bind(str(self._stage.folder(program)), "/box"),
                *(_tmpfs(path, size) for path, size in scratch.items()),
            ],
            "linux": {
                "namespaces": [{"type": name} for name in _INNER_NAMESPACES],
                "seccomp": oci_filter(),
            },
        }


def _bind(source: str, target: str) -> dict[str, object]:
    options = ["rbind", "ro"]
    return {"destination": target, "type": "bind", "source": source, "options": options}


def _tmpfs(target: str, size: int) -> dict[str, object]:
    options = ["mode=1777", f"size={size}", "nosuid", "nodev"]
    return {
        "destination": target,
        "type": "tmpfs",
        "source": "tmpfs",
        "options": options,
    }
