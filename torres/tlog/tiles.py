"""Tiles: how a log serves its tree and its leaves (C2SP tlog-tiles).

A tile holds up to 256 hashes of one level. Tiles of level 0 hold hashes of leaves, and
each hash of a higher tile is the root of a complete tile below it. Complete tiles never
change. A bundle holds the leaves themselves.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import ceil
from struct import Struct

from torres.tlog.merkle import HASH_BYTES, node_hash

TILE_HEIGHT = 8
TILE_WIDTH = 1 << TILE_HEIGHT
MAX_LEVEL = 63
BUNDLES = "entries"
"""Stands in the path of a bundle in place of a level."""

_LENGTH = Struct(">H")
_DIGITS = 3


@dataclass(frozen=True, slots=True)
class TileAddress:
    """The place of a tile. A tile with fewer than 256 hashes is a partial one."""

    level: int
    index: int
    width: int = TILE_WIDTH


ReadTile = Callable[[TileAddress], bytes]


def tile_path(level: int | str, index: int, width: int = TILE_WIDTH) -> str:
    """Return the path of a tile, or of a bundle if `level` is BUNDLES."""
    digits = f"{index:d}"
    digits = digits.zfill(_DIGITS * ceil(len(digits) / _DIGITS))
    groups = [digits[i : i + _DIGITS] for i in range(0, len(digits), _DIGITS)]
    name = "/".join([*(f"x{group}" for group in groups[:-1]), groups[-1]])
    partial = "" if width == TILE_WIDTH else f".p/{width}"
    return f"tile/{level}/{name}{partial}"


def subtree_root(hashes: bytes) -> bytes:
    """Return the root of a subtree whose leaves are these hashes, 2**n of them."""
    row = [hashes[i : i + HASH_BYTES] for i in range(0, len(hashes), HASH_BYTES)]
    while len(row) > 1:
        pairs = zip(row[::2], row[1::2], strict=True)
        row = [node_hash(left, right) for left, right in pairs]
    return row[0]


class TileTree:
    """The nodes of a tree of a given size, read from its tiles.

    `node` can be passed to the functions of `merkle`. Each tile is read once.
    """

    def __init__(self, size: int, read: ReadTile) -> None:
        self.size = size
        self._read = read
        self._tiles: dict[tuple[int, int], bytes] = {}

    def node(self, level: int, index: int) -> bytes:
        """Return the hash of a complete subtree with 2**level leaves.

        Raises ValueError if the tile is shorter than it must be.
        """
        tile_level, height = divmod(level, TILE_HEIGHT)
        first = index << height
        tile_index, offset = divmod(first, TILE_WIDTH)
        tile = self._tile(tile_level, tile_index)
        end = (offset + (1 << height)) * HASH_BYTES
        if len(tile) < end:
            raise ValueError(f"tile {tile_index} of level {tile_level} is too short")
        return subtree_root(tile[offset * HASH_BYTES : end])

    def _tile(self, level: int, index: int) -> bytes:
        if (level, index) not in self._tiles:
            count = self.size >> (TILE_HEIGHT * level)
            width = min(TILE_WIDTH, count - index * TILE_WIDTH)
            self._tiles[level, index] = self._read(TileAddress(level, index, width))
        return self._tiles[level, index]


def pack_bundle(leaves: Iterable[bytes]) -> bytes:
    """Return leaves as a bundle: each with its length in two bytes before it."""
    return b"".join(_LENGTH.pack(len(leaf)) + leaf for leaf in leaves)


def unpack_bundle(bundle: bytes) -> list[bytes]:
    """Return the leaves of a bundle. Raises ValueError if it is not one."""
    leaves = []
    start = 0
    while start < len(bundle):
        begin = start + _LENGTH.size
        if begin > len(bundle):
            raise ValueError("the bundle ends inside a length")
        end = begin + _LENGTH.unpack_from(bundle, start)[0]
        if end > len(bundle):
            raise ValueError("the bundle ends inside a leaf")
        leaves.append(bundle[begin:end])
        start = end
    return leaves
