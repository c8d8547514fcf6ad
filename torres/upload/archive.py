"""Unpacks uploads into folders of plain files, digests them, and packs them again.

An upload is a zip, a tar.gz, or one source file. It is checked before it is opened, and
again while it is unpacked, because declared sizes may be wrong. The caller names the
suffixes that the entry of a bot may have.

The digest (docs/contract.md, section 10) is SHA-256 over the files in the order of
their paths as UTF-8 bytes. Each file adds the length of its path (8 bytes, big-endian),
its path, the length of its content (also 8 bytes) and its content. Times, modes, empty
folders and the format of the archive do not count.
"""

import errno
import hashlib
import shutil
import stat
import sys
import zipfile
from collections.abc import Collection, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, BinaryIO

from torres.common.json_object import JsonObject
from torres.common.limited_process import LimitExceeded, ProcessLimits, run_limited
from torres.runner.languages import shortened_list
from torres.runner.manifest import MANIFEST
from torres.upload import formats
from torres.upload.checks import (
    DEFAULT_LIMITS,
    SHOWN_CHARS,
    BadArchive,
    DuplicateName,
    EmptyArchive,
    NoEntry,
    NotAnArchive,
    TooBig,
    UploadLimits,
    check_packed_size,
)

# For the process that opens an upload. A web server gives a request about 30 s.
CPU_S = 20
WALL_S = 25
MEMORY_MB = 1_024
_KINDS: list[type[BadArchive]] = [BadArchive, *BadArchive.__subclasses__()]
_ERRORS = {kind.__name__: kind for kind in _KINDS}


@dataclass(frozen=True, slots=True)
class UnpackedUpload:
    """An unpacked upload.

    ``files`` are relative paths in the order of the digest; ``size`` is in bytes.
    """

    files: tuple[str, ...]
    digest: str
    size: int


def unpack(
    upload: IO[bytes],
    filename: str,
    folder: Path,
    *,
    suffixes: Collection[str],
    limits: UploadLimits = DEFAULT_LIMITS,
) -> UnpackedUpload:
    """Unpack an upload into ``folder`` (new or empty) and digest it.

    ``filename`` matters only for a single source file. Raises BadArchive or one of its
    kinds; ``folder`` may then hold some of the files.

    1. Check the size of the upload.
    2. Copy it into a temporary file, from which another process can read it.
    3. Open it in a process with limits (see ``_unpack``), which also digests it.
    """
    check_packed_size(upload, limits)
    folder.mkdir(parents=True, exist_ok=True)
    arguments = {
        "filename": filename,
        "folder": str(folder.absolute()),
        "suffixes": list(suffixes),
        "limits": asdict(limits),
    }
    with TemporaryFile(dir=folder.parent) as packed:
        shutil.copyfileobj(upload, packed, formats.CHUNK_BYTES)
        packed.seek(0)
        file_bytes = formats.spool_bytes(limits)
        try:
            result = run_limited(
                unpack_stdin,
                arguments,
                packed,
                ProcessLimits(CPU_S, WALL_S, MEMORY_MB, file_bytes),
            )
        except LimitExceeded as why:
            raise NotAnArchive(
                "The archive takes too much time or memory to open. Pack it again as"
                " zip or tar.gz."
            ) from why
    if "error" in result:
        raise _ERRORS[result["error"]](result["message"])
    return UnpackedUpload(tuple(result["files"]), result["digest"], result["size"])


def unpack_stdin(arguments: JsonObject) -> JsonObject:
    """Unpack the upload at standard input; return the result or the error as JSON.

    This function runs in a process with limits.
    """
    try:
        source = _unpack(
            sys.stdin.buffer,
            arguments["filename"],
            Path(arguments["folder"]),
            arguments["suffixes"],
            UploadLimits(**arguments["limits"]),
        )
    except BadArchive as refusal:
        return {"error": type(refusal).__name__, "message": str(refusal)}
    return asdict(source)


def _unpack(
    upload: IO[bytes],
    filename: str,
    folder: Path,
    suffixes: Collection[str],
    limits: UploadLimits,
) -> UnpackedUpload:
    """Unpack and digest an upload. Raises BadArchive or one of its kinds."""
    try:
        entries = formats.entries_of(upload, filename, folder, suffixes, limits)
        paths = _write_all(entries, folder, limits)
    except formats.DAMAGE_ERRORS as damage:
        raise NotAnArchive(
            f"The archive is damaged ({_shown(damage)}). Pack it again as zip or"
            " tar.gz."
        ) from damage
    except OSError as error:
        # A damaged offset leads to a seek that is refused with EINVAL. Other errors
        # come from our disk and are not the fault of the archive.
        if error.errno != errno.EINVAL:
            raise
        raise NotAnArchive(
            "The archive is damaged (it points outside itself). Pack it again."
        ) from error
    if not paths:
        raise EmptyArchive("There is no file in the archive. Pack your bot's folder.")
    paths = _move_to_root(folder, paths, suffixes)
    return UnpackedUpload(tuple(paths), *digest(folder, paths))


def _shown(damage: BaseException) -> str:
    """Return what the standard library says about the damage, which may quote it."""
    words = str(damage) or type(damage).__name__
    printable = "".join(char if char.isprintable() else "?" for char in words)
    return printable[:SHOWN_CHARS]


def digest(folder: Path, paths: Iterable[str]) -> tuple[str, int]:
    """Return the digest of the files in hexadecimal, and the sum of their sizes."""
    sha256 = hashlib.sha256()
    total = 0
    for path in sorted(paths, key=str.encode):
        name = path.encode()
        file = folder / path
        size = file.stat().st_size
        sha256.update(len(name).to_bytes(8, "big") + name + size.to_bytes(8, "big"))
        with file.open("rb") as content:
            for chunk in formats.chunks_of(content):
                sha256.update(chunk)
        total += size
    return sha256.hexdigest(), total


def pack(folder: Path, paths: Iterable[str], target: BinaryIO) -> None:
    """Write the files into a zip. The same files give the same bytes."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(paths, key=str.encode):
            info = zipfile.ZipInfo(path)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = (stat.S_IFREG | 0o644) << 16
            with (
                (folder / path).open("rb") as content,
                archive.open(info, "w") as packed,
            ):
                shutil.copyfileobj(content, packed, formats.CHUNK_BYTES)


def _write_all(
    entries: Iterator[formats.ArchiveEntry], folder: Path, limits: UploadLimits
) -> list[str]:
    """Write all entries and return their paths. Raises DuplicateName and TooBig."""
    paths: list[str] = []
    bytes_left = limits.unpacked
    for entry in entries:
        target = folder / entry.path
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            bytes_left -= _write(entry, target, bytes_left)
        except (FileExistsError, NotADirectoryError, IsADirectoryError) as error:
            raise DuplicateName(
                f"{entry.path} is in the archive twice. Keep one of them."
            ) from error
        paths.append(entry.path)
    return paths


def _write(entry: formats.ArchiveEntry, target: Path, bytes_left: int) -> int:
    """Write one file and return its size. Raises TooBig."""
    written = 0
    with target.open("xb") as file, entry.open() as content:
        for chunk in formats.chunks_of(content):
            written += len(chunk)
            if written > bytes_left:
                raise TooBig(
                    "The archive holds more bytes than it declares, and more than the"
                    " limit. Leave out what the bot does not need to play."
                )
            file.write(chunk)
    return written


def _move_to_root(
    folder: Path, paths: list[str], suffixes: Collection[str]
) -> list[str]:
    """Make ``folder`` the root of the bot; return the paths in the order of the digest.

    The bot is at the top of the archive, or in its only top folder. Raises NoEntry.
    """
    entry_names = {MANIFEST, *(f"bot{suffix}" for suffix in suffixes)}
    if entry_names & set(paths) or _is_program(folder / formats.PROGRAM):
        return sorted(paths, key=str.encode)
    top_folders = {path.split("/", 1)[0] for path in paths if "/" in path}
    if len(top_folders) == 1:
        top = top_folders.pop()
        inner_paths = [
            path.removeprefix(f"{top}/") for path in paths if path.startswith(f"{top}/")
        ]
        if entry_names & set(inner_paths) or _is_program(
            folder / top / formats.PROGRAM
        ):
            _lift(folder, top)
            return sorted(inner_paths, key=str.encode)
    raise NoEntry(
        f"There is no entry file; the archive holds {shortened_list(paths)}. Put one of"
        f" {', '.join(sorted(entry_names))} at the top of the archive, or a program"
        f" named {formats.PROGRAM} (an ELF file or a script with a #! line)."
    )


def _is_program(file: Path) -> bool:
    """True if this is a file that Linux can execute."""
    if not file.is_file():
        return False
    with file.open("rb") as content:
        return content.read(4).startswith(formats.PROGRAM_MARKS)


def _lift(folder: Path, top: str) -> None:
    """Move the files of the top folder up, and delete the files beside that folder."""
    for child in folder.iterdir():
        if child.name != top:
            child.unlink()
    # The top folder may hold a child with its own name, so that it moves away first.
    lifted = (folder / top).rename(folder / ".lifted")
    for child in lifted.iterdir():
        child.rename(folder / child.name)
    lifted.rmdir()
