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
from collections.abc import Iterator
from pathlib import Path

from engine.referee import ServiceFault
from ladder.common.locks import lock
from ladder.runner.sandbox.api import Program
from ladder.runner.sandbox.host import Host

_STREAMS = ("stdin", "stdout", "stderr")
PYTHON_PATH = "opt/torres"
"""Where the engine is in the box, below its root."""
DEVICES = ("null", "zero", "random", "urandom")
"""The files in /dev of a box, besides /dev/shm and the links to its descriptors."""
_MODULES = {".py", ".so"}
_LIBRARIES = Path("/etc/ld.so.cache")
ETC = (Path("/etc/alternatives"), *Path("/etc").glob("java-*-openjdk"), _LIBRARIES)
"""What programs in /usr cannot do without in /etc."""
_LINKS = {
    **{name: f"usr/{name}" for name in ("bin", "sbin", "lib", "lib64")},
    **{f"dev/{n}": f"/proc/self/fd/{i}" for i, n in enumerate(_STREAMS)},
    "dev/fd": "/proc/self/fd",
}


class Stage:
    """Copies that live as long as this process; those of dead ones are removed."""

    def __init__(self, host: Host) -> None:
        folder = host.folder("stage")
        for old in folder.iterdir():
            _remove_if_dead(old)
        self._own = Path(tempfile.mkdtemp(prefix="p", dir=folder))
        self._own.chmod(0o755)
        self._lock = lock(self._own / ".lock")

    def root(self, engine: Path) -> Path:
        """Return a folder that a box can have as its root, with a copy of ``engine``.

        Of the host a bot sees its programs and libraries in /usr, and what those cannot
        do without in /etc: nothing that is a secret, nothing that tells who runs them.
        A root that is mounted as a whole takes half the time of one made of parts.
        """
        target = self._own / "root"
        if not target.exists():
            draft = Path(tempfile.mkdtemp(dir=self._own))
            _furnish(draft, engine)
            draft.chmod(0o755)
            try:
                draft.rename(target)
            except OSError:  # another thread was first
                shutil.rmtree(draft)
        return target

    def box(self, box: Program) -> Path:
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


def _furnish(root: Path, engine: Path) -> None:
    for name in ("usr", "etc", "proc", "dev/shm", "tmp", "out", "box"):
        (root / name).mkdir(parents=True)
    for name, target in _LINKS.items():
        (root / name).symlink_to(target)
    for name in DEVICES:
        (root / "dev" / name).touch()
    for folder in [path for path in ETC if path.is_dir()]:
        shutil.copytree(folder, root / folder.relative_to("/"), symlinks=True)
    if _LIBRARIES.exists():
        shutil.copyfile(_LIBRARIES, root / _LIBRARIES.relative_to("/"))
    (root / PYTHON_PATH / "engine").mkdir(parents=True)
    for file in [path for path in engine.iterdir() if path.suffix in _MODULES]:
        shutil.copyfile(file, root / PYTHON_PATH / "engine" / file.name)
    _open_for_strangers(root)


def _remove_if_dead(folder: Path) -> None:
    with contextlib.suppress(BlockingIOError, FileNotFoundError):
        fd = lock(folder / ".lock")
        shutil.rmtree(folder, ignore_errors=True)
        os.close(fd)


def _strangers_may_read(folder: Path) -> bool:
    way = all(parent.stat().st_mode & stat.S_IXOTH for parent in folder.parents)
    return way and all(_open_mode(seen) for _, seen in _tree(folder))


def _open_mode(seen: os.stat_result) -> bool:
    if stat.S_ISDIR(seen.st_mode):
        return seen.st_mode & 0o005 == 0o005
    if stat.S_ISREG(seen.st_mode):
        return bool(seen.st_mode & stat.S_IROTH)
    return True


def _open_for_strangers(folder: Path) -> None:
    for path, seen in _tree(folder):
        mode = seen.st_mode
        if stat.S_ISDIR(mode) or (stat.S_ISREG(mode) and mode & stat.S_IXUSR):
            os.chmod(path, 0o755)  # noqa: PTH101, S103
        elif stat.S_ISREG(mode):
            os.chmod(path, 0o644)  # noqa: PTH101


def _newest(folder: Path) -> int:
    return max(seen.st_mtime_ns for _, seen in _tree(folder))


def _tree(folder: Path) -> Iterator[tuple[str, os.stat_result]]:
    """Yield a folder and what is below it; each start looks, so it is kept quick."""
    yield str(folder), folder.lstat()
    left = [str(folder)]
    while left:
        with os.scandir(left.pop()) as entries:
            for entry in entries:
                seen = entry.stat(follow_symlinks=False)
                yield entry.path, seen
                if stat.S_ISDIR(seen.st_mode):
                    left.append(entry.path)
