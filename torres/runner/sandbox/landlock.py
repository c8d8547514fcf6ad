"""A sandbox without namespaces: Landlock, seccomp, rlimits and, for root, a user id.

It is for containers that forbid user namespaces. A bot can see that files of the host
exist, but can open only the files of /usr, a few in /etc, its own and the engine's. It
can make no sockets but pairs, write to no folder, and neither signal nor inspect other
processes. Nothing limits the memory of the bot as a whole, and the kernel counts
processes for each user id.
"""

import os
import resource
from pathlib import Path

from torres.runner.protocol import Limits
from torres.runner.sandbox.api import Level, Program
from torres.runner.sandbox.staging import DEVICES, ETC, PYTHON_PATH
from torres.runner.sandbox.zygote_sandbox import (
    DATA_LIMIT_FACTOR,
    ENV,
    RLIMITS,
    HostResources,
    ZygoteSandbox,
    absolute_path,
)
from torres.runner.zygote.landlock import version as landlock_version
from torres.runner.zygote.messages import AllowedPaths, SpawnOrder

MIN_VERSION_OWN_UID = 3
"""The version that a worker needs that is root: it added truncation (Linux 6.2)."""
MIN_VERSION_SHARED_UID = 6
"""The version that any other user needs, because the bot has the worker's user id: it
added abstract sockets and signals (Linux 6.12)."""
_EXTRA_ENV = {
    # Node exits if it finds an OpenSSL configuration that it must not read.
    "OPENSSL_CONF": "/dev/null"
}
_READABLE = ("/usr", "/bin", "/sbin", "/lib", "/lib64", *map(str, ETC))


class LandlockSandbox(ZygoteSandbox):
    """Level ``reduced`` on a host where no namespaces can be made."""

    level: Level = "reduced"
    sockets = False

    def _order(
        self, program: Program, limits: Limits, _own: HostResources
    ) -> SpawnOrder:
        folder = self._stage.folder(program)
        python = self._root() / PYTHON_PATH
        readable = [path for path in _READABLE if Path(path).exists()]
        executable, *arguments = program.command(limits)
        return SpawnOrder(
            [absolute_path(executable), *arguments],
            env={**ENV, "PYTHONPATH": str(python), **_EXTRA_ENV, **program.env},
            cwd=str(folder),
            rlimits=[
                *RLIMITS,
                (resource.RLIMIT_FSIZE, 0),
                (resource.RLIMIT_NPROC, self._other_threads() + limits.pids),
                (resource.RLIMIT_DATA, DATA_LIMIT_FACTOR * limits.memory_mb << 20),
            ],
            paths=AllowedPaths(
                reads=[*readable, str(folder), str(python)],
                writes=[f"/dev/{name}" for name in DEVICES],
            ),
            seccomp=True,
        )

    def _other_threads(self) -> int:
        """Return how many threads now run under the user id that the bot will have.

        RLIMIT_NPROC counts all threads of a user id, not only those of the bot.
        """
        if self._uids is not None:
            return 0
        return sum(_threads(p) for p in Path("/proc").iterdir() if p.name.isdecimal())


def is_supported() -> bool:
    """True if this kernel's Landlock can confine a bot that this user starts."""
    own_uid = os.geteuid() == 0
    needed = MIN_VERSION_OWN_UID if own_uid else MIN_VERSION_SHARED_UID
    return landlock_version() >= needed


def _threads(process: Path) -> int:
    try:
        if process.stat().st_uid == os.geteuid():
            return len(list((process / "task").iterdir()))
    except OSError:
        pass
    return 0
