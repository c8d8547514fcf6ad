"""Boxing a bot without namespaces: Landlock, a filter, limits, its own user id.

For containers that forbid user namespaces. The bot sees that the host's files are
there, but can open none but those of /usr, its own and the engine's; it can make no
socket, write nowhere, signal and look into nobody else. There is no limit of its
memory as a whole, and its processes are counted by the kernel for its user id.
"""

import os
import resource
from pathlib import Path

from ladder.runner.protocol import Limits
from ladder.runner.sandbox.api import Level, Program
from ladder.runner.sandbox.host import Host
from ladder.runner.sandbox.launch import engine_folder
from ladder.runner.sandbox.spawner import SpawnOrder
from ladder.runner.sandbox.staging import DEVICES, ETC, PYTHON_PATH
from ladder.runner.sandbox.zygote_sandbox import (
    DATA_TIMES,
    ENV,
    RLIMITS,
    ZygoteSandbox,
    in_usr,
)
from ladder.runner.zygote.landlock import version as landlock_version

LEAST_OWN_UID, LEAST = 3, 6
"""Versions of Landlock: 3 knows truncation, 6 (Linux 6.12) abstract sockets and
signals, which must be if a bot has the worker's own user id."""
_OWN_ENV = {"OPENSSL_CONF": "/dev/null"}
"""Node ends itself where a configuration is there that it may not read."""
_READABLE = ("/usr", "/bin", "/sbin", "/lib", "/lib64", *map(str, ETC))


class LandlockSandbox(ZygoteSandbox):
    """Level reduced where no box can be made."""

    level: Level = "reduced"
    sockets = False

    def __init__(self, host: Host) -> None:
        super().__init__(host, None)

    def _order(self, box: Program, limits: Limits) -> SpawnOrder:
        folder = self._stage.box(box)
        python = self._stage.root(engine_folder()) / PYTHON_PATH
        readable = [path for path in _READABLE if Path(path).exists()]
        program, *rest = box.command(limits)
        return SpawnOrder(
            [in_usr(program), *rest],
            env={**ENV, "PYTHONPATH": str(python), **_OWN_ENV, **box.env},
            cwd=str(folder),
            rlimits=[
                *RLIMITS,
                (resource.RLIMIT_FSIZE, 0),
                (resource.RLIMIT_NPROC, self._others() + limits.pids),
                (resource.RLIMIT_DATA, DATA_TIMES * limits.memory_mb << 20),
            ],
            confined={
                "reads": [*readable, str(folder), str(python)],
                "writes": [f"/dev/{name}" for name in DEVICES],
            },
            filtered=True,
        )

    def _others(self) -> int:
        """Return how many threads have the user id that the bot will have."""
        if self._slots is not None:
            return 0
        return sum(_threads(p) for p in Path("/proc").iterdir() if p.name.isdecimal())


def enough() -> bool:
    """Return whether this kernel's Landlock can hold a bot of this user."""
    return landlock_version() >= (LEAST_OWN_UID if os.geteuid() == 0 else LEAST)


def _threads(process: Path) -> int:
    try:
        if process.stat().st_uid == os.geteuid():
            return len(list((process / "task").iterdir()))
    except OSError:
        pass
    return 0
