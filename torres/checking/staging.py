"""A copy of a bot's files as an upload would hold them, to check without side effects.

A bot at home may use files that its upload leaves out: hidden files, and files beside
a single file that is uploaded alone. A copy shows that, and also what a bot writes.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from torres.checking.causes import known_fault
from torres.checking.findings import Finding
from torres.runner.languages import is_ignored, locate, suffixes
from torres.runner.sandbox.api import Program
from torres.upload.archive import unpack
from torres.upload.formats import is_archive

Snapshot = dict[str, tuple[int, int]]
"""The size and the time of the last change of each file, by its relative path."""


def stage(path: Path, target: Path) -> Program:
    """Copy the bot at ``path`` into the new folder ``target``; return its program.

    An archive is unpacked as an upload is, with the same checks. Raises EntryNotFound
    and BadArchive.
    """
    if path.is_file() and is_archive(path):
        with path.open("rb") as upload:
            unpack(upload, path.name, target, suffixes=suffixes())
    else:
        _copy(path, locate(path), target)
    staged = locate(target)
    if staged.language == "executable":
        (target / staged.entry).chmod(0o755)  # an archive does not keep the mode
    return staged


def _copy(path: Path, program: Program, target: Path) -> None:
    target.mkdir()
    if path.is_file():
        suffix = path.suffix if program.language != "executable" else ""
        shutil.copy2(path, target / f"bot{suffix}")
        return
    for file in uploaded_files(program.folder):
        copy = target / file.relative_to(program.folder)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(file, copy)


def uploaded_files(folder: Path) -> Iterator[Path]:
    """Yield the files that an upload of this folder holds, without following links."""
    for parent, folders, names in os.walk(folder):
        here = Path(parent)
        top = here.relative_to(folder).parts
        folders[:] = [
            name
            for name in folders
            if not is_ignored([*top, name]) and name != "__pycache__"
        ]
        for name in sorted(names):
            file = here / name
            if not is_ignored([*top, name]) and file.is_file():
                yield file


def snapshot(folder: Path) -> Snapshot:
    """Return the present state of all files in a folder."""
    return {
        path.relative_to(folder).as_posix(): (status.st_size, status.st_mtime_ns)
        for path in sorted(folder.rglob("*"))
        if not path.is_dir() and (status := path.lstat())
    }


def written_files(before: Snapshot, folder: Path) -> Finding | None:
    """Return the finding that the bot wrote to its folder since ``before``."""
    after = snapshot(folder)
    changed = sorted(
        name
        for name in before.keys() | after.keys()
        if before.get(name) != after.get(name)
    )
    if not changed:
        return None
    return known_fault("writes-folder", ", ".join(changed[:5]))
