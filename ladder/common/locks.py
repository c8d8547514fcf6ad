"""File locks: one process at a time, released when it ends, however it ends."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def lock(path: Path, *, folder: bool = False) -> int:
    """Return a descriptor that holds a file, made if need be, or a folder locked.

    Raises BlockingIOError if somebody else holds it.
    """
    how = os.O_DIRECTORY if folder else os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW
    fd = os.open(path, how | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(fd)
        raise
    return fd


@contextmanager
def locked(path: Path) -> Iterator[bool]:
    """Hold a lock file while inside; yield False if another process holds it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        descriptor = lock(path)
    except BlockingIOError:
        yield False
        return
    try:
        yield True
    finally:
        os.close(descriptor)
