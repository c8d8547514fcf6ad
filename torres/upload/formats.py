"""Reads a zip, a tar.gz or one source file as a series of entries of the same kind.

Nothing that an archive declares is trusted. If opening an archive would take memory or
disk in proportion to a declared number, that number is checked first.
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
from typing import IO

from torres.common.untrusted_tar import open_tar
from torres.runner.shebang import ELF_MARK
from torres.upload.checks import (
    BadArchive,
    NotAnArchive,
    TooBig,
    UploadLimits,
    check_count,
    check_unpacked_size,
    clean_path,
    not_a_plain_file,
)

CHUNK_BYTES = 1 << 18
# The limit for all extended headers of a tar together. A path has at most 200 bytes.
MAX_EXTENDED_BYTES = 16 << 10
# In a tar, each file has a header block of 512 bytes, padding of up to 511 bytes, and
# perhaps an extended header; the archive has some blocks of its own.
TAR_BYTES_PER_FILE = 2048
TAR_EXTRA_FILES = 20
PROGRAM = "bot"  # the entry of a bot that needs no build
PROGRAM_MARKS = (b"#!", ELF_MARK)
ZIP_MARK = b"PK"
GZIP_MARK = b"\x1f\x8b"
ZIP_ENTRY_MARK = b"PK\x01\x02"

# The errors that the standard library raises while it reads a damaged archive.
DAMAGE_ERRORS = (
    tarfile.TarError,
    zipfile.BadZipFile,
    BadGzipFile,
    zlib.error,
    struct.error,
    EOFError,
    NotImplementedError,
    ValueError,
    RecursionError,
    MemoryError,
)


@dataclass(frozen=True, slots=True)
class ArchiveEntry:
    """One file of an upload, with a clean path."""

    path: str
    open: Callable[[], IO[bytes]]


def entries_of(
    upload: IO[bytes],
    filename: str,
    folder: Path,
    suffixes: Collection[str],
    limits: UploadLimits,
) -> Iterator[ArchiveEntry]:
    """Return the files of an upload. Read each entry before you ask for the next.

    The content decides about the format. ``filename`` only names the language of a
    single source file. A tar.gz needs a temporary file on the disk of ``folder``.
    Raises BadArchive, or one of ``DAMAGE_ERRORS``.
    """
    magic = upload.read(4)
    upload.seek(0)
    if magic.startswith(ZIP_MARK):
        return _zip_entries(upload, limits)
    if magic.startswith(GZIP_MARK):
        return _tar_entries(upload, folder, limits)
    suffix = PurePosixPath(filename).suffix.lower()
    if suffix in suffixes:
        return iter([ArchiveEntry(f"bot{suffix}", partial(_copy, upload))])
    if magic.startswith(PROGRAM_MARKS):
        return iter([ArchiveEntry(PROGRAM, partial(_copy, upload))])
    raise NotAnArchive(
        "This is neither a zip nor a tar.gz, nor a program, nor one source file"
        f" ({', '.join(sorted(suffixes))}). Pack the bot's folder as a zip."
    )


def is_archive(file: Path) -> bool:
    """True if a file begins as a zip or a tar.gz does."""
    with file.open("rb") as content:
        return content.read(2) in (ZIP_MARK, GZIP_MARK)


def spool_bytes(limits: UploadLimits) -> int:
    """Return the size of the largest tar of an upload, which no file exceeds."""
    overhead = (limits.files + TAR_EXTRA_FILES) * TAR_BYTES_PER_FILE
    return limits.unpacked + overhead


def chunks_of(content: IO[bytes] | GzipFile) -> Iterator[bytes]:
    """Yield the rest of a file in pieces that fit into memory."""
    while True:
        chunk = content.read(CHUNK_BYTES)
        if not chunk:
            return
        yield chunk


def _copy(upload: IO[bytes]) -> IO[bytes]:
    """Return the content of an upload; closing the copy leaves the upload open."""
    return io.BytesIO(upload.read())


def _zip_entries(upload: IO[bytes], limits: UploadLimits) -> Iterator[ArchiveEntry]:
    # `ZipFile` reads its whole list of entries, so that we count them before.
    check_count(_count(upload, ZIP_ENTRY_MARK), limits)
    archive = zipfile.ZipFile(upload)
    check_unpacked_size(sum(info.file_size for info in archive.infolist()), limits)
    for info in archive.infolist():
        path = clean_path(info.orig_filename, limits)
        if info.is_dir() or path is None:
            continue
        kind = stat.S_IFMT(info.external_attr >> 16)
        if kind not in (0, stat.S_IFREG):
            raise not_a_plain_file(path)
        if info.flag_bits & 1:
            raise BadArchive(f"{path} is encrypted. Pack without a password.")
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise BadArchive(f"{path} is packed in an unusual way. Use plain zip.")
        yield ArchiveEntry(path, partial(archive.open, info))


def _tar_entries(
    upload: IO[bytes], folder: Path, limits: UploadLimits
) -> Iterator[ArchiveEntry]:
    with TemporaryFile(dir=folder.parent) as spool:
        _gunzip(upload, spool, spool_bytes(limits))
        archive = open_tar(spool, extended_bytes=MAX_EXTENDED_BYTES)
        total = 0
        for count, info in enumerate(archive, start=1):
            check_count(count, limits)
            total += max(info.size, 0)
            check_unpacked_size(total, limits)
            path = clean_path(info.name, limits)
            if info.isdir() or path is None:
                continue
            if not info.isreg() or info.issparse():
                raise not_a_plain_file(path)
            yield ArchiveEntry(path, partial(_open_in_tar, archive, info))


def _open_in_tar(archive: tarfile.TarFile, info: tarfile.TarInfo) -> IO[bytes]:
    return archive.extractfile(info) or io.BytesIO()


def _gunzip(upload: IO[bytes], spool: IO[bytes], limit: int) -> None:
    """Unpack all of the gzip first, because its checksum stands at its end."""
    written = 0
    with GzipFile(fileobj=upload) as content:
        for chunk in chunks_of(content):
            written += len(chunk)
            if written > limit:
                raise TooBig(
                    f"The archive unpacks to more than {limit:,} bytes."
                    " Leave out what the bot does not need to play."
                )
            spool.write(chunk)
    spool.seek(0)


def _count(upload: IO[bytes], mark: bytes) -> int:
    """Return how often ``mark`` occurs in the upload, also across two chunks."""
    upload.seek(0)
    count = 0
    tail = b""
    for chunk in chunks_of(upload):
        block = tail + chunk
        count += block.count(mark)
        tail = block[-(len(mark) - 1) :]
    upload.seek(0)
    return count
