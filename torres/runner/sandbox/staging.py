"""Make a bot's files readable for the user id under which it runs.

A bot has a user id of its own, which cannot read a home folder, for example. A folder
that this user cannot read is copied once. Symbolic links are copied as links; in the
sandbox their targets do not exist.
"""

import contextlib
import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from engine.referee import ServiceFault
from torres.common.locks import lock
from torres.runner.sandbox.api import Program
from torres.runner.sandbox.host import Host

_STREAMS = ("stdin", "stdout", "stderr")
PYTHON_PATH = "opt/torres"
"""The folder of the engine in the sandbox, relative to the root."""
DEVICES = ("null", "zero", "random", "urandom")
"""The files in the sandbox's /dev, besides /dev/shm and the links to descriptors."""
EMPTY_FILE = "etc/empty"
EMPTY_FOLDER = "proc"
"""An empty file and an empty folder in the root, which cover ``host_facts``."""
_MODULE_SUFFIXES = {".py", ".so"}
_LIBRARY_CACHE = Path("/etc/ld.so.cache")
ETC = (
    Path("/etc/alternatives"),
    *Path("/etc").glob("java-*-openjdk"),
    _LIBRARY_CACHE,
)
"""The parts of /etc that programs in /usr need."""
_LINKS = {
    **{name: f"usr/{name}" for name in ("bin", "sbin", "lib", "lib64")},
    **{f"dev/{n}": f"/proc/self/fd/{i}" for i, n in enumerate(_STREAMS)},
    "dev/fd": "/proc/self/fd",
}


@cache
def host_facts() -> tuple[Path, ...]:
    """Return the files and folders in /proc that are about the host.

    By them a bot could recognise a host, watch what it does, or see what another bot
    does. Those of processes, and links to them, are not among them.
    """
    entries = sorted(Path("/proc").iterdir())
    return tuple(p for p in entries if not (p.name.isdecimal() or p.is_symlink()))


class Stage:
    """Copies that last as long as this process; removes those of dead processes."""

    def __init__(self, host: Host) -> None:
        folder = host.folder("stage")
        for other in folder.iterdir():
            _remove_if_dead(other)
        self._own, self._lock = _locked_folder(folder)
        self._own.chmod(0o755)

    def root(self, engine: Path) -> Path:
        """Return a folder that can be a sandbox's root, with a copy of ``engine``.

        A bot sees the host's programs and libraries in /usr, and the parts of /etc
        that those need. They contain no secret, and nothing tells who runs the host.
        Mounting one prepared root takes half the time of mounting its parts.
        """
        target = self._own / "root"
        if not target.exists():
            draft = Path(tempfile.mkdtemp(dir=self._own))
            _fill_root(draft, engine)
            draft.chmod(0o755)
            try:
                draft.rename(target)
            except OSError:  # Another thread was faster.
                shutil.rmtree(draft)
        return target

    def folder(self, program: Program) -> Path:
        """Return the program's folder, or a copy of it that any user can read.

        Raises ServiceFault if the folder cannot be copied.
        """
        folder = program.folder.resolve()
        name = program.argv[0]
        executable = folder / name if name.startswith("./") else None
        runs = executable is None or bool(executable.stat().st_mode & stat.S_IXOTH)
        if runs and _others_may_read(folder):
            return folder
        key = hashlib.sha256(f"{folder}\0{_newest(folder)}".encode()).hexdigest()[:24]
        target = self._own / key
        if not target.exists():
            draft = Path(tempfile.mkdtemp(dir=self._own))
            try:
                shutil.copytree(folder, draft, symlinks=True, dirs_exist_ok=True)
                _let_others_read(draft)
                if executable is not None:  # An archive may have lost the mode bit.
                    (draft / name).chmod(0o755)
                draft.rename(target)
            except OSError as why:
                shutil.rmtree(draft, ignore_errors=True)
                if not target.exists():  # Otherwise, another thread was faster.
                    raise ServiceFault(
                        f"The bot's folder {folder} could not be copied: {why}."
                    ) from why
        return target

    def own_folder(self, uid: int | None, resources: contextlib.ExitStack) -> Path:
        """Return an empty folder for one bot's sandbox, which ``resources`` removes.

        It belongs to ``uid``, or to the worker's user without one.
        """
        folder = Path(tempfile.mkdtemp(dir=self._own))
        resources.callback(shutil.rmtree, folder, ignore_errors=True)
        if uid is not None:
            os.chown(folder, uid, uid)
        return folder

    def close(self) -> None:
        shutil.rmtree(self._own, ignore_errors=True)
        os.close(self._lock)


def _fill_root(root: Path, engine: Path) -> None:
    for name in ("usr", "etc", "proc", "dev/shm", "tmp", "out", "box"):
        (root / name).mkdir(parents=True)
    for name, target in _LINKS.items():
        (root / name).symlink_to(target)
    for name in DEVICES:
        (root / "dev" / name).touch()
    (root / EMPTY_FILE).touch()
    for folder in [path for path in ETC if path.is_dir()]:
        shutil.copytree(folder, root / folder.relative_to("/"), symlinks=True)
    if _LIBRARY_CACHE.exists():
        shutil.copyfile(_LIBRARY_CACHE, root / _LIBRARY_CACHE.relative_to("/"))
    (root / PYTHON_PATH / "engine").mkdir(parents=True)
    for file in [path for path in engine.iterdir() if path.suffix in _MODULE_SUFFIXES]:
        shutil.copyfile(file, root / PYTHON_PATH / "engine" / file.name)
    _let_others_read(root)


def _locked_folder(parent: Path) -> tuple[Path, int]:
    """Make a new folder and lock it; return it with the descriptor of its lock.

    Another process that starts now may take the new folder for that of a dead process
    and remove it before it is locked, or while we open the file. Then make another one.
    """
    while True:
        folder = Path(tempfile.mkdtemp(prefix="p", dir=parent))
        with contextlib.suppress(BlockingIOError, FileNotFoundError):
            folder_lock = lock(folder / ".lock")
            if folder.exists():
                return folder, folder_lock
            os.close(folder_lock)


def _remove_if_dead(folder: Path) -> None:
    with contextlib.suppress(BlockingIOError, FileNotFoundError):
        fd = lock(folder / ".lock")
        shutil.rmtree(folder, ignore_errors=True)
        os.close(fd)


def _others_may_read(folder: Path) -> bool:
    """True if any user can reach the folder and read everything in it."""
    reachable = all(parent.stat().st_mode & stat.S_IXOTH for parent in folder.parents)
    return reachable and all(_is_readable(status) for _, status in _tree(folder))


def _is_readable(status: os.stat_result) -> bool:
    if stat.S_ISDIR(status.st_mode):
        return status.st_mode & 0o005 == 0o005
    if stat.S_ISREG(status.st_mode):
        return bool(status.st_mode & stat.S_IROTH)
    return True


def _let_others_read(folder: Path) -> None:
    for path, status in _tree(folder):
        mode = status.st_mode
        if stat.S_ISDIR(mode) or (stat.S_ISREG(mode) and mode & stat.S_IXUSR):
            os.chmod(path, 0o755)  # noqa: PTH101, S103
        elif stat.S_ISREG(mode):
            os.chmod(path, 0o644)  # noqa: PTH101


def _newest(folder: Path) -> int:
    """Return the latest modification time in the folder, in ns."""
    return max(status.st_mtime_ns for _, status in _tree(folder))


def _tree(folder: Path) -> Iterator[tuple[str, os.stat_result]]:
    """Yield the folder and everything below it, each with its status.

    Every start of a bot calls this, so it uses ``scandir``, which is fast.
    """
    yield str(folder), folder.lstat()
    folders = [str(folder)]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                status = entry.stat(follow_symlinks=False)
                yield entry.path, status
                if stat.S_ISDIR(status.st_mode):
                    folders.append(entry.path)
