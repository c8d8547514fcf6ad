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
import io
import stat
import struct
import tarfile
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from gzip import BadGzipFile, GzipFile
from pathlib import Path, PurePosixPath
from tempfile import TemporaryFile
from typing import IO, BinaryIO, cast

from ladder.errors import LadderError

CHUNK = 1 << 18
HEADER = 1 << 20  # tar: more than this at once is a header that wants our memory
MANIFEST = "bot.toml"
DAMAGE = (
    tarfile.TarError,
    zipfile.BadZipFile,
    BadGzipFile,
    zlib.error,
    struct.error,
    EOFError,
    NotImplementedError,
    ValueError,
)


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
class Limits:
    """``packed`` and ``unpacked`` in bytes; ``path`` in bytes of UTF-8."""

    packed: int = 64 << 20
    unpacked: int = 256 << 20
    files: int = 10_000
    path: int = 200
    depth: int = 20


@dataclass(frozen=True, slots=True)
class Source:
    """An unpacked upload. ``files`` are relative paths in digest order."""

    files: tuple[str, ...]
    digest: str
    size: int


@dataclass(frozen=True, slots=True)
class Packed:
    """One entry of a zip or a tar, whichever it came from."""

    path: str
    open: Callable[[], IO[bytes]]


def unpack(
    upload: IO[bytes],
    filename: str,
    folder: Path,
    *,
    suffixes: Collection[str],
    limits: Limits = Limits(),
) -> Source:
    """Unpack an upload into ``folder`` (new or empty) and digest it.

    ``filename`` is only looked at to recognise a single source file. Raises BadArchive
    or one of its kinds; then ``folder`` may hold some of the files.
    """
    _judge_size(upload, limits)
    folder.mkdir(parents=True, exist_ok=True)
    try:
        entries = _entries(upload, filename, folder, suffixes, limits)
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
    return Source(tuple(paths), *digest(folder, paths))


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


def _judge_size(upload: IO[bytes], limits: Limits) -> None:
    size = upload.seek(0, io.SEEK_END)
    upload.seek(0)
    if size == 0:
        raise EmptyArchive("The upload is empty. Choose a zip, a tar.gz or a bot file.")
    if size > limits.packed:
        raise TooBig(
            f"The upload has {size:,} bytes; the limit is {limits.packed:,}."
            " Leave out what the bot does not need to play."
        )


def _entries(
    upload: IO[bytes],
    filename: str,
    folder: Path,
    suffixes: Collection[str],
    limits: Limits,
) -> Iterator[Packed]:
    magic = upload.read(4)
    upload.seek(0)
    if magic[:2] == b"PK":
        return _zipped(upload, limits)
    if magic[:2] == b"\x1f\x8b":
        return _taped(upload, folder, limits)
    suffix = PurePosixPath(filename).suffix.lower()
    if suffix in suffixes:
        return iter([Packed(f"bot{suffix}", partial(_whole, upload))])
    raise NotAnArchive(
        "This is neither a zip nor a tar.gz, nor one source file"
        f" ({', '.join(sorted(suffixes))}). Pack the bot's folder as a zip."
    )


def _whole(upload: IO[bytes]) -> IO[bytes]:
    return io.BytesIO(upload.read())  # closing it leaves the upload open


def _zipped(upload: IO[bytes], limits: Limits) -> Iterator[Packed]:
    # Counted in the raw bytes, because opening a zip reads its whole list of entries.
    _judge_count(_occurrences(upload, b"PK\x01\x02"), limits)
    archive = zipfile.ZipFile(upload)
    _judge_total(sum(info.file_size for info in archive.infolist()), limits)
    for info in archive.infolist():
        path = _path(info.orig_filename, limits)
        if info.is_dir() or path is None:
            continue
        kind = stat.S_IFMT(info.external_attr >> 16)
        if kind not in (0, stat.S_IFREG):
            raise _not_plain(path)
        if info.flag_bits & 1:
            raise BadArchive(f"{path} is encrypted. Pack without a password.")
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise BadArchive(f"{path} is packed in an unusual way. Use plain zip.")
        yield Packed(path, partial(archive.open, info))


def _taped(upload: IO[bytes], folder: Path, limits: Limits) -> Iterator[Packed]:
    # Each file costs a block of header and up to one of padding beside its content.
    most = limits.unpacked + (limits.files + 20) * 2048
    with TemporaryFile(dir=folder.parent) as spool:
        _gunzip(upload, spool, most)
        tape = cast("BinaryIO", _Tape(cast("BinaryIO", spool)))
        archive = tarfile.open(fileobj=tape, mode="r:")  # noqa: SIM115 - holds nothing
        total = 0
        for count, info in enumerate(archive, start=1):
            _judge_count(count, limits)
            _judge_total(total := total + max(info.size, 0), limits)
            path = _path(info.name, limits)
            if info.isdir() or path is None:
                continue
            if not info.isreg() or info.issparse():
                raise _not_plain(path)
            yield Packed(path, partial(_content, archive, info))


def _content(archive: tarfile.TarFile, info: tarfile.TarInfo) -> IO[bytes]:
    return archive.extractfile(info) or io.BytesIO()


def _gunzip(upload: IO[bytes], spool: IO[bytes], most: int) -> None:
    """All of it first: only its end tells whether it is whole."""
    written = 0
    with GzipFile(fileobj=upload) as content:
        while chunk := content.read(CHUNK):
            written += len(chunk)
            if written > most:
                raise TooBig(
                    f"The archive unpacks to more than {most:,} bytes."
                    " Leave out what the bot does not need to play."
                )
            spool.write(chunk)
    spool.seek(0)


class _Tape:
    """An unpacked tar that refuses to put a huge header into our memory."""

    def __init__(self, spool: BinaryIO) -> None:
        self.seek, self.tell, self._read = spool.seek, spool.tell, spool.read

    def read(self, size: int = -1) -> bytes:
        if not 0 <= size <= HEADER:
            raise BadArchive("A header of the tar is too long. Pack it again.")
        return self._read(size)


def _occurrences(upload: IO[bytes], mark: bytes) -> int:
    upload.seek(0)
    count, tail = 0, b""
    while chunk := upload.read(CHUNK):
        block = tail + chunk
        count += block.count(mark)
        tail = block[-(len(mark) - 1) :]
    upload.seek(0)
    return count


def _judge_count(count: int, limits: Limits) -> None:
    if count > limits.files:
        raise TooManyFiles(
            f"The archive has {count:,} entries or more; the limit is {limits.files:,}."
            " Leave out what the bot does not need to play."
        )


def _judge_total(size: int, limits: Limits) -> None:
    if size > limits.unpacked:
        raise TooBig(
            f"The archive unpacks to {size:,} bytes or more; the limit is"
            f" {limits.unpacked:,}. Leave out what the bot does not need to play."
        )


def _path(name: str, limits: Limits) -> str | None:
    """Clean the path of "." parts; None for what is ignored."""
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


def _not_plain(path: str) -> NotAPlainFile:
    return NotAPlainFile(
        f"{path} is a link or a device. Put the file itself into the archive."
    )


def _write_all(entries: Iterator[Packed], folder: Path, limits: Limits) -> list[str]:
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
