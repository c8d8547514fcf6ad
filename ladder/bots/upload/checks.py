"""Why an upload is refused, and the limits from which on it is.

Each refusal says to the person what to do about it.
"""

import io
import unicodedata
from dataclasses import dataclass
from typing import IO

from ladder.common.errors import LadderError


class BadArchive(LadderError):
    code, http_status = "bad-archive", 422


class NotAnArchive(BadArchive):
    code = "not-an-archive"


class EmptyArchive(BadArchive):
    code = "empty-archive"


class TooBig(BadArchive):
    code, http_status = "archive-too-big", 413


class TooManyFiles(BadArchive):
    code = "too-many-files"


class UnsafePath(BadArchive):
    code = "unsafe-path"


class NotAPlainFile(BadArchive):
    code = "not-a-plain-file"


class DuplicateName(BadArchive):
    code = "duplicate-name"


class NoEntry(BadArchive):
    code = "no-entry"


@dataclass(frozen=True, slots=True)
class UploadLimits:
    """``packed`` and ``unpacked`` in bytes; ``path`` in bytes of UTF-8."""

    packed: int = 64 << 20
    unpacked: int = 256 << 20
    files: int = 10_000
    path: int = 200
    depth: int = 20


USUAL = UploadLimits()


def judge_size(upload: IO[bytes], limits: UploadLimits) -> None:
    """Refuse an upload that is empty or has too many bytes, packed as it is."""
    size = upload.seek(0, io.SEEK_END)
    upload.seek(0)
    if size == 0:
        raise EmptyArchive("The upload is empty. Choose a zip, a tar.gz or a bot file.")
    if size > limits.packed:
        raise TooBig(
            f"The upload has {size:,} bytes; the limit is {limits.packed:,}."
            " Leave out what the bot does not need to play."
        )


def judge_count(count: int, limits: UploadLimits) -> None:
    """Refuse an archive with so many entries."""
    if count > limits.files:
        raise TooManyFiles(
            f"The archive has {count:,} entries or more; the limit is {limits.files:,}."
            " Leave out what the bot does not need to play."
        )


def judge_total(size: int, limits: UploadLimits) -> None:
    """Refuse an archive that has so many bytes unpacked, or says so."""
    if size > limits.unpacked:
        raise TooBig(
            f"The archive unpacks to {size:,} bytes or more; the limit is"
            f" {limits.unpacked:,}. Leave out what the bot does not need to play."
        )


def clean_path(name: str, limits: UploadLimits) -> str | None:
    """Return the path without its "." parts; None for what is ignored.

    Raises UnsafePath for what a file of a bot cannot be called.
    """
    shown = ascii(name)[:100]
    if name.startswith("/") or ":" in name or "\\" in name:
        raise UnsafePath(f"{shown} is not a relative path with / between its parts.")
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise UnsafePath(f"{shown} points out of the archive. Pack the folder itself.")
    if not parts or parts[0] == "__MACOSX" or any(p.startswith(".") for p in parts):
        return None
    path = unicodedata.normalize("NFC", "/".join(parts))
    if not path.isprintable() or any(part.startswith("-") for part in parts):
        raise UnsafePath(f"{shown} has characters that file names here cannot have.")
    if len(path.encode()) > limits.path or len(parts) > limits.depth:
        raise UnsafePath(f"{shown}… is too long or too deep. Use shorter names.")
    return path


def not_plain(path: str) -> NotAPlainFile:
    """Return the refusal of what is no file."""
    return NotAPlainFile(
        f"{path} is a link or a device. Put the file itself into the archive."
    )
