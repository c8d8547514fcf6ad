"""The entries of a zip, a tar.gz or one source file, all as the same kind of thing.

Nothing is believed: what opening would take of our memory is judged before.
"""

import io
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import partial
from gzip import BadGzipFile, GzipFile
from pathlib import Path, PurePosixPath
from tempfile import TemporaryFile
from typing import IO, BinaryIO, cast

from ladder.bots.upload.checks import (
    BadArchive,
    NotAnArchive,
    TooBig,
    UploadLimits,
    clean_path,
    judge_count,
    judge_total,
    not_plain,
)

CHUNK = 1 << 18
HEADER = 1 << 20  # tar: more than this at once is a header that wants our memory
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
"""What may come of reading a damaged one."""


@dataclass(frozen=True, slots=True)
class Packed:
    """One entry of a zip or a tar, whichever it came from."""

    path: str
    open: Callable[[], IO[bytes]]


def entries_of(
    upload: IO[bytes],
    filename: str,
    folder: Path,
    suffixes: Collection[str],
    limits: UploadLimits,
) -> Iterator[Packed]:
    """Return the files of an upload, each to be opened before the next is asked for.

    ``folder`` is where it will be unpacked. Raises BadArchive, or one of ``DAMAGE``.
    """
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


def _zipped(upload: IO[bytes], limits: UploadLimits) -> Iterator[Packed]:
    # Counted in the raw bytes, because opening a zip reads its whole list of entries.
    judge_count(_occurrences(upload, b"PK\x01\x02"), limits)
    archive = zipfile.ZipFile(upload)
    judge_total(sum(info.file_size for info in archive.infolist()), limits)
    for info in archive.infolist():
        path = clean_path(info.orig_filename, limits)
        if info.is_dir() or path is None:
            continue
        kind = stat.S_IFMT(info.external_attr >> 16)
        if kind not in (0, stat.S_IFREG):
            raise not_plain(path)
        if info.flag_bits & 1:
            raise BadArchive(f"{path} is encrypted. Pack without a password.")
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise BadArchive(f"{path} is packed in an unusual way. Use plain zip.")
        yield Packed(path, partial(archive.open, info))


def _taped(upload: IO[bytes], folder: Path, limits: UploadLimits) -> Iterator[Packed]:
    # Each file costs a block of header and up to one of padding beside its content.
    most = limits.unpacked + (limits.files + 20) * 2048
    with TemporaryFile(dir=folder.parent) as spool:
        _gunzip(upload, spool, most)
        tape = cast("BinaryIO", _Tape(cast("BinaryIO", spool)))
        archive = tarfile.open(fileobj=tape, mode="r:")  # noqa: SIM115 - holds nothing
        total = 0
        for count, info in enumerate(archive, start=1):
            judge_count(count, limits)
            judge_total(total := total + max(info.size, 0), limits)
            path = clean_path(info.name, limits)
            if info.isdir() or path is None:
                continue
            if not info.isreg() or info.issparse():
                raise not_plain(path)
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
