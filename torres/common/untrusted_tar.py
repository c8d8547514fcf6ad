"""Opens a tar that a stranger may have made.

``tarfile`` believes a header before its caller sees the file: it reads extended headers
(the long names and options of a member) into memory, parses them with expressions that
take quadratic time in some releases of Python, and calls itself for each of them.
"""

import tarfile
from typing import IO

_EXTENDED = frozenset(
    [
        tarfile.GNUTYPE_LONGNAME,
        tarfile.GNUTYPE_LONGLINK,
        tarfile.XHDTYPE,
        tarfile.XGLTYPE,
        tarfile.SOLARIS_XHDTYPE,
    ]
)
# A member has a header for its path and one for its link, or one for both; the first
# member may also have one for the whole archive.
_MAX_EXTENDED_IN_A_ROW = 2


class UnsafeTar(ValueError):
    """The tar has a header that is not read. The message ends without a full stop."""


def open_tar(stream: IO[bytes], *, extended_bytes: int) -> tarfile.TarFile:
    """Open an uncompressed tar in a file that can seek.

    All extended headers together may have ``extended_bytes``. While the members are
    read, UnsafeTar is raised for more than that, for long chains of extended headers,
    for sparse files, and for negative sizes.
    """

    class Header(tarfile.TarInfo):
        bytes_left = extended_bytes
        in_a_row = 0

        @classmethod
        def frombuf(
            cls, buf: bytes | bytearray, encoding: str, errors: str
        ) -> "Header":
            header = super().frombuf(buf, encoding, errors)
            _check_header(header)
            if header.type not in _EXTENDED:
                Header.in_a_row = 0
                return header
            Header.in_a_row += 1
            Header.bytes_left -= header.size
            if Header.in_a_row > _MAX_EXTENDED_IN_A_ROW:
                raise UnsafeTar("it has a chain of extended headers")
            if Header.bytes_left < 0:
                raise UnsafeTar(
                    f"its extended headers have more than {extended_bytes:,} bytes"
                )
            return header

    return tarfile.open(fileobj=stream, mode="r:", tarinfo=Header)


def _check_header(header: tarfile.TarInfo) -> None:
    if header.size < 0:
        raise UnsafeTar("it has a file of a negative size")
    if header.type == tarfile.GNUTYPE_SPARSE:
        raise UnsafeTar("it has a sparse file")
