"""File locks. The kernel releases a lock when its process ends for any reason."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def lock(path: Path, *, folder: bool = False) -> int:
    """Lock a file, which is created if it is missing, or a folder.

    Return the descriptor that holds the lock until it is closed. Raises BlockingIOError
    if another process holds the lock.
    """
    flags = os.O_DIRECTORY if folder else os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW
    fd = os.open(path, flags | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(fd)
        raise
    return fd


@contextmanager
def locked(path: Path) -> Iterator[bool]:
    """Hold a lock file. Yield True, or False if another process holds the lock."""
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
