"""Making a bot's files visible to the user id that runs it, and to nobody's harm.

A bot runs under an own user id, which cannot look into a home folder. What it cannot
reach is copied once into a folder that it can; links are copied as links, which lead
nowhere in the sandbox.
"""

import contextlib
import hashlib
import os
import shutil
import stat
import tempfile
from pathlib import Path

from engine.referee import ServiceFault
from ladder.bots.sandbox.base import Box
from ladder.bots.sandbox.host import Host, lock

_MODULES = {".py", ".so"}


class Stage:
    """Copies that live as long as this process; those of dead ones are removed."""

    def __init__(self, host: Host) -> None:
        folder = host.folder("stage")
        for old in folder.iterdir():
            _remove_if_dead(old)
        self._own = Path(tempfile.mkdtemp(prefix="p", dir=folder))
        self._own.chmod(0o755)
        self._lock = lock(self._own / ".lock")

    def engine(self, source: Path) -> Path:
        """Return a folder that holds a copy of the engine package and nothing else."""
        target = self._own / "path"
        if not target.exists():
            (target / "engine").mkdir(parents=True)
            for file in source.iterdir():
                if file.suffix in _MODULES:
                    shutil.copyfile(file, target / "engine" / file.name)
        return target

    def box(self, box: Box) -> Path:
        """Return the box's folder, or a copy of it if a stranger could not use it."""
        folder = box.folder.resolve()
        program = folder / box.argv[0] if box.argv[0].startswith("./") else None
        runs = program is None or bool(program.stat().st_mode & stat.S_IXOTH)
        if runs and _strangers_may_read(folder):
            return folder
        name = hashlib.sha256(f"{folder}\0{_newest(folder)}".encode()).hexdigest()[:24]
        target = self._own / name
        if not target.exists():
            draft = Path(tempfile.mkdtemp(dir=self._own))
            try:
                shutil.copytree(folder, draft, symlinks=True, dirs_exist_ok=True)
                _open_for_strangers(draft)
                if program is not None:  # an archive may have lost that it is one
                    (draft / box.argv[0]).chmod(0o755)
                draft.rename(target)
            except OSError as why:
                shutil.rmtree(draft, ignore_errors=True)
                if not target.exists():  # else another thread was first
                    raise ServiceFault(f"{folder} could not be copied: {why}") from why
        return target

    def close(self) -> None:
        shutil.rmtree(self._own, ignore_errors=True)
        os.close(self._lock)


def _remove_if_dead(folder: Path) -> None:
    with contextlib.suppress(BlockingIOError, FileNotFoundError):
        fd = lock(folder / ".lock")
        shutil.rmtree(folder, ignore_errors=True)
        os.close(fd)


def _strangers_may_read(folder: Path) -> bool:
    way = all(parent.stat().st_mode & stat.S_IXOTH for parent in folder.parents)
    return way and all(_open_mode(path.lstat()) for path in [folder, *_tree(folder)])


def _open_mode(seen: os.stat_result) -> bool:
    if stat.S_ISDIR(seen.st_mode):
        return seen.st_mode & 0o005 == 0o005  # noqa: PLR2004 — read and enter
    if stat.S_ISREG(seen.st_mode):
        return bool(seen.st_mode & stat.S_IROTH)
    return True


def _open_for_strangers(folder: Path) -> None:
    for path in [folder, *_tree(folder)]:
        mode = path.lstat().st_mode
        if stat.S_ISDIR(mode) or (stat.S_ISREG(mode) and mode & stat.S_IXUSR):
            path.chmod(0o755)
        elif stat.S_ISREG(mode):
            path.chmod(0o644)


def _newest(folder: Path) -> int:
    return max(path.lstat().st_mtime_ns for path in [folder, *_tree(folder)])


def _tree(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*"))
