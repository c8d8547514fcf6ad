"""Starting a program with three pipes, the same way at every level."""

import contextlib
import hashlib
import os
import stat
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import engine
from engine.referee import ServiceFault


@dataclass(frozen=True, slots=True)
class Launched:
    """A started program and our non-blocking ends of its stdin, stdout and stderr."""

    process: subprocess.Popen[bytes]
    pipes: tuple[int, int, int]


def launch(
    argv: Sequence[str],
    cwd: Path,
    env: Mapping[str, str],
    **options: Any,  # noqa: ANN401
) -> Launched:
    """Start ``argv`` in a session of its own. Raises ServiceFault if that fails.

    ``options`` are Popen's. The pipes are raw descriptors: the caller closes them.
    """
    pairs: list[tuple[int, int]] = []
    try:
        pairs = [os.pipe2(os.O_CLOEXEC) for _ in range(3)]
        (child_in, to_bot), (from_bot, child_out), (errors, child_err) = pairs
        process = subprocess.Popen(
            argv,
            cwd=cwd,
            env=env,
            stdin=child_in,
            stdout=child_out,
            stderr=child_err,
            start_new_session=True,
            **options,
        )
    except OSError as why:
        for fd in [fd for pair in pairs for fd in pair]:
            os.close(fd)
        raise ServiceFault(f"{argv[0]} could not be started: {why}") from why
    for fd in (child_in, child_out, child_err):
        os.close(fd)
    for fd in (to_bot, from_bot, errors):
        os.set_blocking(fd, False)
    return Launched(process, (to_bot, from_bot, errors))


def engine_folder() -> Path:
    """Return the folder of this project's engine package."""
    return Path(engine.__file__).resolve().parent


@cache
def bot_path() -> Path:
    """Return a folder that holds the engine and nothing else, for PYTHONPATH.

    It is the same folder for the same user and project, so that none is left behind.
    """
    target = engine_folder()
    name = hashlib.sha256(str(target).encode()).hexdigest()[:16]
    folder = Path(tempfile.gettempdir()) / f"torres-path-{os.geteuid()}-{name}"
    folder.mkdir(mode=0o700, exist_ok=True)
    seen = folder.lstat()
    if not stat.S_ISDIR(seen.st_mode) or seen.st_uid != os.geteuid():
        raise ServiceFault(f"{folder} belongs to somebody else; remove it")
    with contextlib.suppress(FileExistsError):
        (folder / "engine").symlink_to(target)
    return folder
