"""Folders of a worker that can be made again: unpacked and compiled submissions.

An entry is made once, and verified before each use: each process computes the hash of
its content once, and again whenever the times, sizes or modes of its files have
changed. A damaged entry is removed and made again. An entry in use is locked, also
against other processes. The other entries are removed, the least recently used first,
when all entries together exceed a number of bytes.
"""

import contextlib
import fcntl
import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from engine.referee import ServiceFault

_FILES = "files"
_DIGEST = "digest"  # the file with the hash of _FILES; its mtime is the last use
_MAX_TRIES = 5
_verified_fingerprints: dict[Path, str] = {}
"""The fingerprints of the entries that this process has verified, by their folder."""


class CacheEntry:
    """An entry in use. Its files stay where they are until it is closed."""

    def __init__(self, folder: Path, lock: int) -> None:
        self.files = folder / _FILES
        self._lock = lock

    def close(self) -> None:
        """Unlock the entry. A second call does nothing."""
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def __del__(self) -> None:
        self.close()


class _Usage(NamedTuple):
    """An entry's last use, which is the key when usages are sorted, and its size."""

    used_at: float
    size: int
    folder: Path


@dataclass(frozen=True, slots=True)
class ArtifactCache:
    """Entries by name in ``folder``. ``scratch`` must be on the same file system.

    Safe for any number of threads and processes, which may be killed at any time.
    """

    folder: Path
    scratch: Path
    max_bytes: int

    def take(self, name: str, make: Callable[[Path], object]) -> CacheEntry:
        """Return an entry, locked. ``make(folder)`` makes it if it is not there.

        1. Open the entry and lock it for use. If it is not there, make it in
           ``scratch``, move it into place, and begin anew.
        2. Verify it. If it is whole, note the use and return it.
        3. Otherwise remove it, and begin anew.

        Raises ServiceFault if the entry is not whole after several tries.
        """
        folder = self.folder / name
        for _ in range(_MAX_TRIES):
            entry = _open(folder)
            if entry is None:
                self._make(folder, make)
            elif _is_whole(folder):
                os.utime(folder / _DIGEST)
                return entry
            else:
                entry.close()
                self._remove(folder, broken=True)
        raise ServiceFault(
            f"the files in {folder} change by themselves. Check the disk of the worker."
        )

    def _make(self, folder: Path, make: Callable[[Path], object]) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self.scratch) as scratch:
            draft = Path(scratch) / "entry"
            draft.mkdir()
            make(draft / _FILES)
            (draft / _DIGEST).write_text(_digest(draft / _FILES))
            with contextlib.suppress(OSError):  # another thread or process was first
                draft.rename(folder)
        self._prune()

    def _prune(self) -> None:
        """Remove the least recently used entries until the rest is small enough.

        The most recently used entry stays, however large it is.
        """
        usages = sorted(_usages(self.folder), reverse=True)
        left = self.max_bytes
        for number, usage in enumerate(usages):
            left -= usage.size
            if left < 0 and number > 0:
                self._remove(usage.folder)

    def _remove(self, folder: Path, *, broken: bool = False) -> None:
        """Remove an entry that is not in use. Move a broken one away in any case."""
        with contextlib.suppress(OSError), contextlib.ExitStack() as stack:
            fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            stack.callback(os.close, fd)
            unused = _try_lock(fd)
            if unused or broken:
                grave = Path(tempfile.mkdtemp(dir=self.scratch))
                folder.rename(grave / folder.name)
                # The files of an entry in use stay in scratch until the next start.
                if unused:
                    shutil.rmtree(grave, ignore_errors=True)


def _try_lock(fd: int) -> bool:
    """Lock a folder against all uses. False if it is in use."""
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _open(folder: Path) -> CacheEntry | None:
    """Return the entry, locked for use; None if it is not there."""
    try:
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    fcntl.flock(fd, fcntl.LOCK_SH)
    with contextlib.suppress(FileNotFoundError):
        if os.path.samestat(os.fstat(fd), folder.stat()):
            return CacheEntry(folder, fd)
    os.close(fd)  # another process removed the entry before we locked it
    return None


def _is_whole(folder: Path) -> bool:
    """True if the files are those that were made."""
    files = folder / _FILES
    try:
        fingerprint = _fingerprint(files)
        if _verified_fingerprints.get(folder) == fingerprint:
            return True
        whole = (folder / _DIGEST).read_text() == _digest(files)
    except (OSError, UnicodeError):
        return False
    if whole:
        _verified_fingerprints[folder] = fingerprint
    return whole


def _fingerprint(files: Path) -> str:
    """Return a hash that every ordinary change of a file changes. Reads no contents."""
    digest = hashlib.sha256()
    for path, s in _walk(files):
        words = (path, s.st_ino, s.st_mode, s.st_size, s.st_mtime_ns, s.st_ctime_ns)
        digest.update(repr(words).encode())
    return digest.hexdigest()


def _digest(files: Path) -> str:
    """Return the SHA-256 of all names, modes and contents."""
    digest = hashlib.sha256()
    for path, s in _walk(files):
        content = b""
        if stat.S_ISREG(s.st_mode):
            content = Path(path).read_bytes()
        elif stat.S_ISLNK(s.st_mode):
            content = os.fsencode(Path(path).readlink())
        name = os.path.relpath(path, files)
        digest.update(f"{name}\0{s.st_mode:o} {len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


def _walk(files: Path) -> Iterator[tuple[str, os.stat_result]]:
    """Yield all files and folders in a folder, sorted by name, with their stat."""
    for entry in sorted(os.scandir(files), key=lambda entry: entry.name):
        status = entry.stat(follow_symlinks=False)
        yield entry.path, status
        if stat.S_ISDIR(status.st_mode):
            yield from _walk(Path(entry.path))


def _usages(folder: Path) -> Iterator[_Usage]:
    """Yield the usage of each entry; those that are being removed are left out."""
    for entry in folder.iterdir():
        with contextlib.suppress(OSError):
            size = sum(status.st_size for _, status in _walk(entry))
            digest = entry / _DIGEST
            used_at = digest.stat().st_mtime if digest.exists() else 0.0
            yield _Usage(used_at, size, entry)
