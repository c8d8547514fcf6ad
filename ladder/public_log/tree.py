"""Read the tree of the public log: tiles, bundles, leaves and proofs."""

from collections.abc import Sequence

import zstandard

from ladder.public_log.models import LogBundle, LogHead, LogLeaf, LogTile
from torres.tlog.merkle import HASH_BYTES
from torres.tlog.tiles import (
    MAX_LEVEL,
    TILE_WIDTH,
    TileAddress,
    TileTree,
    pack_bundle,
    unpack_bundle,
)

MAX_BUNDLE_BYTES = 32 << 20


def head() -> LogHead | None:
    """Return the head of the log; None if nothing was logged yet."""
    return LogHead.objects.first()


def tile(address: TileAddress) -> bytes | None:
    """Return the hashes of a tile; None if the log has no such tile (yet).

    The hashes of a partial tile come from the newest leaves, or from the roots of the
    tiles below it.
    """
    if not 0 <= address.level <= MAX_LEVEL:
        return None
    complete = LogTile.objects.filter(level=address.level, index=address.index)
    stored = complete.values_list("hashes", flat=True).first()
    if stored is not None:
        return bytes(stored)[: address.width * HASH_BYTES]
    start = address.index * TILE_WIDTH
    end = start + address.width
    if address.level == 0:
        leaves = LogLeaf.objects.filter(number__gte=start, number__lt=end)
        hashes = leaves.order_by("number").values_list("hash", flat=True)
        data = b"".join(bytes(hash_) for hash_ in hashes)
    else:
        data = roots_below(address.level, address.index)[: address.width * HASH_BYTES]
    return data if data and len(data) == address.width * HASH_BYTES else None


def roots_below(level: int, index: int) -> bytes:
    """Return the hashes of a tile above level 0: the roots of the tiles below it."""
    start = index * TILE_WIDTH
    below = LogTile.objects.filter(level=level - 1, index__gte=start)
    rows = below.filter(index__lt=start + TILE_WIDTH).order_by("index")
    return b"".join(bytes(root) for root in rows.values_list("root", flat=True))


def bundle(index: int, width: int) -> bytes | None:
    """Return the first `width` leaves of a bundle; None if there are fewer."""
    texts = _texts(index)
    return pack_bundle(texts[:width]) if len(texts) >= width > 0 else None


def text(number: int) -> bytes:
    """Return the text of a leaf, which must exist."""
    index, offset = divmod(number, TILE_WIDTH)
    return _texts(index)[offset]


def texts(numbers: Sequence[int]) -> dict[int, bytes]:
    """Return the texts of leaves, which must exist, by their numbers."""
    bundles = {index: _texts(index) for index in {n // TILE_WIDTH for n in numbers}}
    return {n: bundles[n // TILE_WIDTH][n % TILE_WIDTH] for n in numbers}


def _texts(index: int) -> list[bytes]:
    packed = (
        LogBundle.objects.filter(index=index).values_list("data", flat=True).first()
    )
    if packed is not None:
        return unpack_bundle(unpacked(bytes(packed)))
    start = index * TILE_WIDTH
    rows = LogLeaf.objects.filter(number__gte=start, number__lt=start + TILE_WIDTH)
    return [
        row.encode() for row in rows.order_by("number").values_list("text", flat=True)
    ]


def packed(leaves: Sequence[bytes]) -> bytes:
    """Return a bundle as it is stored."""
    return zstandard.ZstdCompressor().compress(pack_bundle(leaves))


def unpacked(stored: bytes) -> bytes:
    """Return a stored bundle as it is served."""
    return zstandard.ZstdDecompressor().decompress(stored, MAX_BUNDLE_BYTES)


def nodes(size: int) -> TileTree:
    """Return the nodes of the tree when it had `size` leaves."""
    return TileTree(size, _read)


def _read(address: TileAddress) -> bytes:
    found = tile(address)
    if found is None:
        raise LookupError(
            f"Tile {address.index} of level {address.level} of the public log is"
            " missing. Restore the database from a backup."
        )
    return found


def hashes(numbers: Sequence[int], size: int) -> dict[int, bytes]:
    """Return the hashes of leaves by their numbers, which must be below `size`."""
    tiles = nodes(size)
    return {number: tiles.node(0, number) for number in numbers}
