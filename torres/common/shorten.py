"""Shorten long logs: the beginning and the end stay, the middle is left out.

The beginning of a log usually holds the cause of a problem, and its end the last words
of a program.
"""

import io
from typing import BinaryIO

_HEAD_SHARE = 4  # the beginning gets 1 / _HEAD_SHARE of the room


def shorten(text: str, max_bytes: int) -> str:
    """Return at most `max_bytes` bytes of a text, and a mark where bytes are left out.

    A short text is returned unchanged.
    """
    data = text.encode(errors="replace")
    return text if len(data) <= max_bytes else shorten_file(io.BytesIO(data), max_bytes)


def shorten_file(file: BinaryIO, max_bytes: int) -> str:
    """Return the text of a file as `shorten` does. Reads only what is returned."""
    size = file.seek(0, io.SEEK_END)
    file.seek(0)
    if size <= max_bytes:
        return file.read(max_bytes).decode(errors="replace")
    head = file.read(max_bytes // _HEAD_SHARE)
    file.seek(len(head) - max_bytes, io.SEEK_END)
    tail = file.read(max_bytes - len(head))
    # A character at the cut may be incomplete.
    return (
        f"{_decode(head)}\n[... {size - max_bytes:,} bytes were left out ...]\n"
        f"{_decode(tail)}"
    )


def _decode(data: bytes) -> str:
    return data.decode(errors="replace").strip("\N{REPLACEMENT CHARACTER}")
