"""What every level needs to start a program: three pipes, and the engine's folder."""

import contextlib
import hashlib
import os
import stat
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import engine
from engine.referee import ServiceFault

Pipes = tuple[int, int, int]
"""Ends of a program's stdin, stdout and stderr, as raw descriptors."""


@contextlib.contextmanager
def open_pipes() -> Iterator[tuple[Pipes, Pipes]]:
    """Make three pipes: the program's ends, closed afterwards, and ours.

    Ours do not block and are the caller's to close; they are closed here if it raises.
    """
    fds = [fd for _ in range(3) for fd in os.pipe2(os.O_CLOEXEC)]
    child_in, to_bot, from_bot, child_out, errors, child_err = fds
    ours, its = (to_bot, from_bot, errors), (child_in, child_out, child_err)
    try:
        for fd in ours:
            os.set_blocking(fd, False)
        yield its, ours
    except BaseException:
        for fd in ours:
            os.close(fd)
        raise
    finally:
        for fd in its:
            os.close(fd)


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
