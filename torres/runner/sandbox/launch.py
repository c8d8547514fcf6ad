"""Parts that every level needs to start a program: pipes and the engine's folder."""

import contextlib
import hashlib
import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import engine
from engine.referee import ServiceFault

Pipes = tuple[int, int, int]
"""One end of a program's stdin, stdout and stderr, as descriptors."""


@contextlib.contextmanager
def open_pipes() -> Iterator[tuple[Pipes, Pipes]]:
    """Make three pipes; yield the program's ends and ours.

    The program's ends are closed afterwards. Ours do not block on Linux; elsewhere a
    thread reads each of them. The caller closes them, except after an error: then they
    are closed here.
    """
    fds = [fd for _ in range(3) for fd in os.pipe()]
    child_in, to_bot, from_bot, child_out, errors, child_err = fds
    ours = (to_bot, from_bot, errors)
    theirs = (child_in, child_out, child_err)
    try:
        if sys.platform == "linux":
            for fd in ours:
                os.set_blocking(fd, False)
        yield theirs, ours
    except BaseException:
        for fd in ours:
            os.close(fd)
        raise
    finally:
        for fd in theirs:
            os.close(fd)


def engine_folder() -> Path:
    """Return the folder of this project's engine package."""
    return Path(engine.__file__).resolve().parent


@cache
def bot_path() -> Path:
    """Return a folder that contains only the engine, for PYTHONPATH.

    It is the same folder for the same user and project, so that no run leaves another
    one behind. Raises ServiceFault if another user owns it.
    """
    target = engine_folder()
    name = hashlib.sha256(str(target).encode()).hexdigest()[:16]
    folder = Path(tempfile.gettempdir()) / f"torres-path-{os.geteuid()}-{name}"
    folder.mkdir(mode=0o700, exist_ok=True)
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
        raise ServiceFault(f"{folder} belongs to another user. Remove it.")
    with contextlib.suppress(FileExistsError):
        (folder / "engine").symlink_to(target)
    return folder
