"""Folders that a worker can make again: unpacked submissions, and what was built.

An entry is made once and verified before each use: its content is hashed once for each
process, and again whenever the times, sizes or modes of its files have changed since.
What is not as it was made is made anew. An entry in use is locked, also against other
processes; of the others those used last are kept, up to a number of bytes.
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

from engine.referee import ServiceFault

_FILES, _DIGEST = "files", "digest"
_TRIES = 5
_verified: dict[Path, str] = {}
"""What the files of the entries that this process verified looked like then."""


class CacheEntry:
    """An entry in use: its files stay where they are until it is closed."""

    def __init__(self, folder: Path, lock: int) -> None:
        self.files = folder / _FILES
        self._lock = lock

    def close(self) -> None:
        """Give it back; the second call does nothing."""
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def __del__(self) -> None:
        self.close()


@dataclass(frozen=True, slots=True)
class ArtifactCache:
    """Entries by name in ``folder``; ``scratch`` is on the same file system.

    Good for any number of threads and processes, which may be killed at any time.
    """

    folder: Path
    scratch: Path
    most_bytes: int

    def take(self, name: str, make: Callable[[Path], object]) -> CacheEntry:
        """Return an entry; ``make(folder)`` makes it where it is not, or not whole.

        Raises ServiceFault where it is not whole as soon as it is made.
        """
        place = self.folder / name
        for _ in range(_TRIES):
            if (entry := _open(place)) is None:
                self._make(place, make)
            elif _is_whole(place):
                os.utime(place / _DIGEST)  # used now
                return entry
            else:
                entry.close()
                self._remove(place, broken=True)
        raise ServiceFault(f"{place} does not stay as it is made; look at the disk")

    def _make(self, place: Path, make: Callable[[Path], object]) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self.scratch) as scratch:
            draft = Path(scratch) / "entry"
            draft.mkdir()
            make(draft / _FILES)
            (draft / _DIGEST).write_text(_digest(draft / _FILES))
            with contextlib.suppress(OSError):  # somebody else was first
                draft.rename(place)
        self._prune()

    def _prune(self) -> None:
        """Remove what was not used for longest, until the rest is small enough."""
        left = self.most_bytes
        for number, (_, size, place) in enumerate(
            sorted(_ages(self.folder), reverse=True)
        ):
            left -= size
            if left < 0 and number:  # the newest stays, however large it is
                self._remove(place)

    def _remove(self, place: Path, *, broken: bool = False) -> None:
        """Remove an entry that nobody uses; a broken one is put away in any case."""
        with contextlib.suppress(OSError), contextlib.ExitStack() as stack:
            fd = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            stack.callback(os.close, fd)
            free = _locked(fd)
            if free or broken:
                grave = Path(tempfile.mkdtemp(dir=self.scratch))
                place.rename(grave / place.name)
                if free:  # else it is left for the next start
                    shutil.rmtree(grave, ignore_errors=True)


def _locked(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _open(place: Path) -> CacheEntry | None:
    """Return the entry locked for use; None if it is not there."""
    try:
        fd = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    fcntl.flock(fd, fcntl.LOCK_SH)
    with contextlib.suppress(FileNotFoundError):
        if os.path.samestat(os.fstat(fd), place.stat()):
            return CacheEntry(place, fd)
    os.close(fd)  # it was removed before it was locked
    return None


def _is_whole(place: Path) -> bool:
    files = place / _FILES
    try:
        looks = _looks(files)
        if _verified.get(place) == looks:
            return True
        whole = (place / _DIGEST).read_text() == _digest(files)
    except (OSError, UnicodeError):
        return False
    if whole:
        _verified[place] = looks
    return whole


def _looks(files: Path) -> str:
    """Return what changes with every ordinary change of a file, without reading it."""
    seen = hashlib.sha256()
    for path, s in _tree(files):
        words = (path, s.st_ino, s.st_mode, s.st_size, s.st_mtime_ns, s.st_ctime_ns)
        seen.update(repr(words).encode())
    return seen.hexdigest()


def _digest(files: Path) -> str:
    """Return the SHA-256 of all names, modes and contents."""
    seen = hashlib.sha256()
    for path, s in _tree(files):
        content = b""
        if stat.S_ISREG(s.st_mode):
            content = Path(path).read_bytes()
        elif stat.S_ISLNK(s.st_mode):
            content = os.fsencode(Path(path).readlink())
        name = os.path.relpath(path, files)
        seen.update(f"{name}\0{s.st_mode:o} {len(content)}\0".encode())
        seen.update(content)
    return seen.hexdigest()


def _tree(files: Path) -> Iterator[tuple[str, os.stat_result]]:
    """Yield everything in a folder, in the order of the names."""
    for entry in sorted(os.scandir(files), key=lambda entry: entry.name):
        seen = entry.stat(follow_symlinks=False)
        yield entry.path, seen
        if stat.S_ISDIR(seen.st_mode):
            yield from _tree(Path(entry.path))


def _ages(folder: Path) -> Iterator[tuple[float, int, Path]]:
    """Yield when each entry was used last, how many bytes it has, and its place."""
    for place in folder.iterdir():
        with contextlib.suppress(OSError):
            size = sum(s.st_size for _, s in _tree(place))
            used = place / _DIGEST
            yield (used.stat().st_mtime if used.exists() else 0.0), size, place
