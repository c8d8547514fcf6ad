"""Starve a bot of processor time on purpose, on any machine.

Busy loops beside a bot do not always slow it down: the bot may run on another
processor, and the kernel divides a processor between groups of processes, however many
processes a group has. The groups are the control groups of the controller ``cpu`` and,
outside of these, the sessions (``/proc/sys/kernel/sched_autogroup_enabled``).
"""

import contextlib
import fcntl
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Self

from torres.runner.process import BotProcess
from torres.runner.sandbox.cgroup_mounts import find

REMOVE_TIMEOUT_S = 5.0
LOCK = Path(tempfile.gettempdir()) / f"torres-starvation-{os.getuid()}.lock"


class Starvation:
    """Busy loops that take most of one processor from the bots that are starved.

    With n loops a bot gets 1 / (n + 1) of the processor. Three steps see to that:

    1. The loops and all threads of the bot are pinned to the same processor.
    2. Each loop leads a session, as the bot does.
    3. Each loop gets a control group beside the bot's group, if the bot has a group
       that may matter to the scheduler: in version 1 that of ``cpu``, in version 2 any.
       The bot's own group holds no loop, so the bot is not charged for their CPU time.

    Only one starvation exists on the machine at a time, so that the share is as stated.
    """

    def __init__(self, loops: int) -> None:
        self._processor = max(os.sched_getaffinity(0))
        self._lock = LOCK.open("w")
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        self._folders: list[Path] = []
        self._loops = [
            subprocess.Popen(
                [sys.executable, "-c", "while True: pass"], start_new_session=True
            )
            for _ in range(loops)
        ]
        for loop in self._loops:
            os.sched_setaffinity(loop.pid, {self._processor})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __str__(self) -> str:
        parents = sorted({str(folder.parent) for folder in self._folders})
        return (
            f"{len(self._loops)} busy loops on processor {self._processor}, where the"
            f" bot is, with control groups in {', '.join(parents) or 'no folder'}"
        )

    def starve(self, bot: BotProcess) -> None:
        """Let a started bot compete with the loops. Its new threads inherit that."""
        running = bot._bot
        for tid in running.threads():
            os.sched_setaffinity(tid, {self._processor})
        for group in _separate_groups(running.pid):
            for number, loop in enumerate(self._loops):
                folder = group.with_name(f"loop-{number}")
                if folder not in self._folders:
                    folder.mkdir()
                    self._folders.append(folder)
                    (folder / "cgroup.procs").write_text(str(loop.pid))

    def close(self) -> None:
        """End the loops and remove their control groups."""
        for loop in self._loops:
            loop.kill()
            loop.wait()
        deadline = time.monotonic() + REMOVE_TIMEOUT_S
        for folder in self._folders:
            while folder.exists() and time.monotonic() < deadline:
                with contextlib.suppress(OSError):  # its last process is still ending
                    folder.rmdir()
        self._lock.close()


def _separate_groups(pid: int) -> Iterator[Path]:
    """Yield the control groups of a process in which it may be scheduled without us."""
    own_paths = _group_paths("self")
    paths = _group_paths(str(pid))
    for hierarchy in find():
        controllers = hierarchy.controllers if hierarchy.version == 1 else frozenset()
        if hierarchy.version == 1 and "cpu" not in controllers:
            continue
        if paths[controllers] != own_paths[controllers]:
            way = os.path.relpath(paths[controllers], own_paths[controllers])
            yield (hierarchy.here / way).resolve()


def _group_paths(pid: str) -> dict[frozenset[str], str]:
    """Return the paths of a process's groups by controllers; version 2 has none."""
    paths = {}
    for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines():
        _, names, path = line.split(":", 2)
        paths[frozenset(names.split(",")) if names else frozenset()] = path
    return paths
