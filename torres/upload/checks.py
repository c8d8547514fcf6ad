"""The limits of an upload, and the errors if an upload breaks one of the rules.

Each message names the problem and the next step.
"""

import io
import unicodedata
from dataclasses import dataclass
from typing import IO

from torres.common.errors import LadderError
from torres.runner.languages import is_ignored


class BadArchive(LadderError, code="bad-archive", http_status=422):
    """The upload is not a package of a bot; the message says why."""


class NotAnArchive(BadArchive, code="not-an-archive"):
    """The file is no archive, or a damaged one."""


class EmptyArchive(BadArchive, code="empty-archive"):
    """The archive has no files."""


class TooBig(BadArchive, code="archive-too-big", http_status=413):
    """The archive, or what it unpacks to, is too large."""


class TooManyFiles(BadArchive, code="too-many-files"):
    """The archive has too many entries."""


class UnsafePath(BadArchive, code="unsafe-path"):
    """A path leads out of the archive, or some system cannot store it."""


class NotAPlainFile(BadArchive, code="not-a-plain-file"):
    """An entry is a link or a device."""


class DuplicateName(BadArchive, code="duplicate-name"):
    """Two entries have the same name."""


class NoEntry(BadArchive, code="no-entry"):
    """No file of the archive is the main file of a bot."""


@dataclass(frozen=True, slots=True)
class UploadLimits:
    """The limits of one upload.

    ``packed`` and ``unpacked`` are sizes in bytes, ``path`` is the length of a path in
    bytes of UTF-8, ``depth`` the number of its parts.
    """

    packed: int = 64 << 20
    unpacked: int = 256 << 20
    files: int = 10_000
    path: int = 200
    depth: int = 20


DEFAULT_LIMITS = UploadLimits()
SHOWN_CHARS = 100  # of a bad file name in an error message


def check_packed_size(upload: IO[bytes], limits: UploadLimits) -> None:
    """Check the size of the upload as it was sent. Raises EmptyArchive and TooBig."""
    size = upload.seek(0, io.SEEK_END)
    upload.seek(0)
    if size == 0:
        raise EmptyArchive("The upload is empty. Choose a zip, a tar.gz or a bot file.")
    if size > limits.packed:
        raise TooBig(
            f"The upload has {size:,} bytes; the limit is {limits.packed:,}."
            " Leave out what the bot does not need to play."
        )


def check_count(count: int, limits: UploadLimits) -> None:
    """Check the number of entries. Raises TooManyFiles."""
    if count > limits.files:
        raise TooManyFiles(
            f"The archive has {count:,} entries or more; the limit is {limits.files:,}."
            " Leave out what the bot does not need to play."
        )


def check_unpacked_size(size: int, limits: UploadLimits) -> None:
    """Check the sum of the sizes that the archive declares. Raises TooBig."""
    if size > limits.unpacked:
        raise TooBig(
            f"The archive unpacks to {size:,} bytes or more; the limit is"
            f" {limits.unpacked:,}. Leave out what the bot does not need to play."
        )


def clean_path(name: str, limits: UploadLimits) -> str | None:
    """Return the path of a file in an archive in its normal form: NFC, without ".".

    None means that the file is ignored. Raises UnsafePath for names that could leave
    the folder, hide something in a terminal, or look like an option of a compiler.
    """
    shown = ascii(name)[:SHOWN_CHARS]
    if name.startswith("/") or ":" in name or "\\" in name:
        raise UnsafePath(f"{shown} is not a relative path with / between its parts.")
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise UnsafePath(f"{shown} points out of the archive. Pack the folder itself.")
    if not parts or is_ignored(parts):
        return None
    path = unicodedata.normalize("NFC", "/".join(parts))
    if not path.isprintable() or any(part.startswith("-") for part in parts):
        raise UnsafePath(
            f"{shown} has unprintable characters or a part that begins with a dash."
            " Rename it."
        )
    if len(path.encode()) > limits.path or len(parts) > limits.depth:
        raise UnsafePath(f"{shown}… is too long or too deep. Use shorter names.")
    return path


def not_a_plain_file(path: str) -> NotAPlainFile:
    """Return the error for a link, a device or another special file."""
    return NotAPlainFile(
        f"{path} is a link or a device. Put the file itself into the archive."
    )
