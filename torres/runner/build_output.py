"""Reads the tar that a compiler's sandbox wrote. It is as untrusted as an upload.

``unpack_stdin`` runs in a process with limits (``torres.common.limited_process``).
"""

import shutil
import stat
import sys
import tarfile
from pathlib import Path, PurePosixPath

from torres.common.json_object import JsonObject
from torres.common.untrusted_tar import open_tar

MAX_FILES = 2_000
MAX_EXTENDED_BYTES = 1 << 20
"""Enough for a long path of each file."""
_MAX_PATH_BYTES = 1_000
_MAX_DEPTH = 50
_SHOWN_CHARS = 100
_CHUNK_BYTES = 1 << 18


class BadOutput(Exception):
    """The output cannot be a bot. The message continues "could not be built:"."""


def unpack_stdin(arguments: JsonObject) -> JsonObject:
    """Unpack the tar at standard input into ``folder``.

    All files together may have ``max_bytes``. If ``program`` is not empty, a file with
    this path must be there. Returns the reason why the output is refused, or "".
    """
    try:
        _unpack(Path(arguments["folder"]), arguments["max_bytes"], arguments["program"])
    except BadOutput as why:
        return {"refused": str(why)}
    except (tarfile.TarError, ValueError, EOFError, RecursionError, MemoryError) as why:
        shown = ascii(str(why))[:_SHOWN_CHARS]
        return {"refused": f"its output is not a readable tar: {shown}"}
    return {"refused": ""}


def _unpack(folder: Path, max_bytes: int, program: str) -> None:
    files: set[PurePosixPath] = set()
    bytes_left = max_bytes
    with open_tar(sys.stdin.buffer, extended_bytes=MAX_EXTENDED_BYTES) as archive:
        for number, member in enumerate(archive):
            if number > MAX_FILES:
                raise BadOutput(f"it made more than {MAX_FILES} files")
            path = _path(member.name)
            if not member.isreg():
                continue
            bytes_left -= member.size
            if member.issparse() or bytes_left < 0:
                raise BadOutput(f"it made more than {max_bytes >> 20} MiB")
            _write(archive, member, folder, path)
            files.add(path)
    if not files:
        raise BadOutput("the compiler made no file")
    if program and PurePosixPath(program) not in files:
        raise BadOutput(f"the compiler did not make the program {program}")
    if program:
        (folder / program).chmod(0o755)


def _path(name: str) -> PurePosixPath:
    """Return the path of a file. Raises BadOutput if it is not a usable path."""
    path = PurePosixPath(name)
    shown = ascii(name)[:_SHOWN_CHARS]
    try:
        length = len(name.encode())
    except UnicodeEncodeError:
        raise BadOutput(f"it made {shown}, and that name is not UTF-8") from None
    if path.is_absolute() or ".." in path.parts:
        raise BadOutput(f"it made a file {shown} outside of its folder")
    if "\0" in name or length > _MAX_PATH_BYTES or len(path.parts) > _MAX_DEPTH:
        raise BadOutput(f"it made {shown}, and that path is too long or too deep")
    return path


def _write(
    archive: tarfile.TarFile,
    member: tarfile.TarInfo,
    folder: Path,
    path: PurePosixPath,
) -> None:
    """Write one file. Raises BadOutput if a link or a folder is in its way."""
    target = folder / path
    shown = ascii(str(path))[:_SHOWN_CHARS]
    parents = [folder / parent for parent in path.parents]
    if any(step.is_symlink() for step in (target, *parents)):
        raise BadOutput(f"it made {shown}, and a link is in that path")
    content = archive.extractfile(member)
    if content is None:
        raise BadOutput(f"{shown} has no content")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with content, target.open("wb") as file:
            shutil.copyfileobj(content, file, _CHUNK_BYTES)
    except (IsADirectoryError, NotADirectoryError, FileExistsError) as why:
        raise BadOutput(
            f"it made {shown}, and the sources have a folder or file of that name;"
            " rename the one in the sources"
        ) from why
    if target.stat().st_size != member.size:
        raise BadOutput(f"{shown} is shorter than its header says")
    target.chmod(0o755 if member.mode & stat.S_IXUSR else 0o644)
