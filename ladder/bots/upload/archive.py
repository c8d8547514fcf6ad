"""What people upload, judged before it is opened and again while it is unpacked.

A zip, a tar.gz, or one source file comes in; a folder of plain files and its digest
come out, or a refusal that says what to do. Declared sizes may lie, so real bytes are
counted too. It knows no languages: the caller says which suffixes a bot may have.

The digest is SHA-256 over the files in the order of their paths' UTF-8 bytes; each
adds the length of its path (8 bytes, big-endian), its path, the length of its content
(likewise) and its content. Times, modes, folders and the packing do not count.
"""

import errno
import hashlib
import stat
import zipfile
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, BinaryIO

from ladder.bots.upload.checks import (
    USUAL,
    DuplicateName,
    EmptyArchive,
    NoEntry,
    NotAnArchive,
    TooBig,
    UploadLimits,
    judge_size,
)
from ladder.bots.upload.formats import CHUNK, DAMAGE, Packed, entries_of

MANIFEST = "bot.toml"


@dataclass(frozen=True, slots=True)
class UnpackedUpload:
    """An unpacked upload. ``files`` are relative paths in digest order."""

    files: tuple[str, ...]
    digest: str
    size: int


def unpack(
    upload: IO[bytes],
    filename: str,
    folder: Path,
    *,
    suffixes: Collection[str],
    limits: UploadLimits = USUAL,
) -> UnpackedUpload:
    """Unpack an upload into ``folder`` (new or empty) and digest it.

    ``filename`` is only looked at to recognise a single source file. Raises BadArchive
    or one of its kinds; then ``folder`` may hold some of the files.
    """
    judge_size(upload, limits)
    folder.mkdir(parents=True, exist_ok=True)
    try:
        entries = entries_of(upload, filename, folder, suffixes, limits)
        paths = _write_all(entries, folder, limits)
    except DAMAGE as broken:
        raise NotAnArchive(
            f"The archive is damaged ({broken}). Pack it again as zip or tar.gz."
        ) from broken
    except OSError as broken:
        if broken.errno != errno.EINVAL:
            raise  # our disk, not their archive
        raise NotAnArchive(
            "The archive is damaged (it points outside itself). Pack it again."
        ) from broken
    if not paths:
        raise EmptyArchive("There is no file in the archive. Pack your bot's folder.")
    paths = _settle(folder, paths, suffixes)
    return UnpackedUpload(tuple(paths), *digest(folder, paths))


def digest(folder: Path, paths: Iterable[str]) -> tuple[str, int]:
    """SHA-256 of the files as framed above, and how many bytes they hold."""
    total, size = hashlib.sha256(), 0
    for path in sorted(paths, key=str.encode):
        name, file = path.encode(), folder / path
        length = file.stat().st_size
        total.update(len(name).to_bytes(8, "big") + name + length.to_bytes(8, "big"))
        with file.open("rb") as content:
            while chunk := content.read(CHUNK):
                total.update(chunk)
        size += length
    return total.hexdigest(), size


def pack(folder: Path, paths: Iterable[str], target: BinaryIO) -> None:
    """Write the files as a zip that is the same for the same files."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(paths, key=str.encode):
            info = zipfile.ZipInfo(path)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = (stat.S_IFREG | 0o644) << 16
            with (
                (folder / path).open("rb") as content,
                archive.open(info, "w") as packed,
            ):
                while chunk := content.read(CHUNK):
                    packed.write(chunk)


def _write_all(
    entries: Iterator[Packed], folder: Path, limits: UploadLimits
) -> list[str]:
    paths: list[str] = []
    left = limits.unpacked
    for entry in entries:
        target = folder / entry.path
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            written = _write(entry, target, left)
        except (FileExistsError, NotADirectoryError, IsADirectoryError) as twice:
            raise DuplicateName(
                f"{entry.path} is in the archive twice. Keep one of them."
            ) from twice
        left -= written
        paths.append(entry.path)
    return paths


def _write(entry: Packed, target: Path, left: int) -> int:
    written = 0
    with target.open("xb") as file, entry.open() as content:
        while chunk := content.read(CHUNK):
            written += len(chunk)
            if written > left:
                raise TooBig(
                    "The archive holds more bytes than it declares, and more than the"
                    " limit. Leave out what the bot does not need to play."
                )
            file.write(chunk)
    return written


def _settle(folder: Path, paths: list[str], suffixes: Collection[str]) -> list[str]:
    """Move the bot up if it lies in the only top folder; insist on an entry."""
    entries = {MANIFEST, *(f"bot{suffix}" for suffix in suffixes)}
    if entries & set(paths):
        return sorted(paths, key=str.encode)
    tops = {path.split("/", 1)[0] for path in paths if "/" in path}
    top = tops.pop() if len(tops) == 1 else ""
    inside = [path.removeprefix(f"{top}/") for path in paths if path != top]
    if not top or not entries & {p for p in inside if f"{top}/{p}" in paths}:
        raise NoEntry(
            "There is no entry file: put one of"
            f" {', '.join(sorted(entries))} at the top of the archive."
        )
    return _lift(folder, top, [path for path in paths if path.startswith(f"{top}/")])


def _lift(folder: Path, top: str, paths: list[str]) -> list[str]:
    """Move the bot's own folder up; what lies beside it is no part of the bot."""
    for child in folder.iterdir():
        if child.name != top:
            child.unlink()
    # First out of the way: the folder may hold something of its own name.
    lifted = (folder / top).rename(folder / ".lifted")
    for child in lifted.iterdir():
        child.rename(folder / child.name)
    lifted.rmdir()
    return sorted((path.removeprefix(f"{top}/") for path in paths), key=str.encode)
