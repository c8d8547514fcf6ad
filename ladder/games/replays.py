"""How a replay is stored: the JSON of the contract, section 7, compressed by zstd.

A frame names the dictionary that it needs, so that replays of every age can be read.
"""

import json
from typing import Any

import zstandard

LEVEL = 12
MAX_BYTES = 4 << 20


def pack(document: dict[str, Any]) -> bytes:
    """Return the stored form of a replay document."""
    text = json.dumps(document, separators=(",", ":"), ensure_ascii=True)
    return zstandard.ZstdCompressor(level=LEVEL).compress(text.encode())


def unpack(stored: bytes) -> bytes:
    """Return the JSON text of a stored replay, byte for byte as it was packed."""
    return zstandard.ZstdDecompressor().decompress(stored, max_output_size=MAX_BYTES)
