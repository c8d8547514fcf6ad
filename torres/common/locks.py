"""File locks. The kernel releases a lock when its process ends for any reason."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

if sys.platform == "win32":
    import msvcrt

    def _hold(fd: int) -> None:
        try:
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        except OSError as why:
            raise BlockingIOError("another process holds the lock") from why

    _CLOSED_IN_CHILDREN = os.O_NOINHERIT
    _NO_LINKS = 0
else:
    import fcntl

    def _hold(fd: int) -> None:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)

    _CLOSED_IN_CHILDREN = os.O_CLOEXEC
    _NO_LINKS = os.O_NOFOLLOW


def lock(path: Path, *, folder: bool = False) -> int:
    """Lock a file, which is created if it is missing, or (not on Windows) a folder.

    Return the descriptor that holds the lock until it is closed. Raises BlockingIOError
    if another process holds the lock.
    """
    flags = os.O_DIRECTORY if folder else os.O_RDWR | os.O_CREAT | _NO_LINKS
    fd = os.open(path, flags | _CLOSED_IN_CHILDREN, 0o600)
    try:
        _hold(fd)
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
