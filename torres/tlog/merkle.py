"""Merkle trees of RFC 6962, section 2.1: roots, and proofs that leaves are in them.

A tree commits to a list of leaves. An inclusion proof shows that one leaf is in the
tree with a given root. A consistency proof shows that a tree begins with all leaves of
an older one, so nothing was changed or removed in between.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256

HASH_BYTES = 32
EMPTY_ROOT = sha256(b"").digest()

ReadNode = Callable[[int, int], bytes]
"""Returns the hash of the complete subtree with 2**level leaves, by level and index.

Subtrees of one level are numbered from 0, from left to right.
"""


def leaf_hash(leaf: bytes) -> bytes:
    """Return the hash of a leaf."""
    return sha256(b"\0" + leaf).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return the hash of a node with two children."""
    return sha256(b"\1" + left + right).digest()


@dataclass(slots=True)
class Frontier:
    """The complete subtrees of a growing tree, the largest first.

    This is all that is needed to add leaves and to compute roots.
    """

    size: int = 0
    hashes: list[bytes] = field(default_factory=list)

    def append(self, leaf: bytes) -> None:
        """Add the hash of a leaf."""
        self.hashes.append(leaf)
        self.size += 1
        complete = self.size
        while complete % 2 == 0:
            right = self.hashes.pop()
            self.hashes.append(node_hash(self.hashes.pop(), right))
            complete //= 2

    def root(self) -> bytes:
        """Return the root of the tree."""
        return _joined(self.hashes) if self.hashes else EMPTY_ROOT

    def dump(self) -> bytes:
        """Return the hashes as bytes; `load` needs the size as well."""
        return b"".join(self.hashes)

    @classmethod
    def load(cls, size: int, data: bytes) -> "Frontier":
        """Return the frontier that `dump` wrote. Raises ValueError."""
        if len(data) != HASH_BYTES * size.bit_count():
            raise ValueError(f"these are not the subtrees of a tree of {size} leaves")
        starts = range(0, len(data), HASH_BYTES)
        return cls(size, [data[start : start + HASH_BYTES] for start in starts])


def root_at(size: int, node: ReadNode) -> bytes:
    """Return the root that a tree had when it had `size` leaves."""
    return _range_root(0, size, node) if size else EMPTY_ROOT


def inclusion_proof(index: int, size: int, node: ReadNode) -> list[bytes]:
    """Return the proof that leaf `index` is in the tree of `size` leaves.

    The hashes go from the sibling of the leaf up to a child of the root. Raises
    ValueError if the tree has no such leaf.
    """
    if not 0 <= index < size:
        raise ValueError(f"a tree of {size} leaves has no leaf {index}")
    path = []
    start, end = 0, size
    while end - start > 1:
        middle = start + _largest_power_below(end - start)
        if index < middle:
            path.append(_range_root(middle, end, node))
            end = middle
        else:
            path.append(_range_root(start, middle, node))
            start = middle
    path.reverse()
    return path


def includes(
    root: bytes, size: int, index: int, leaf: bytes, proof: Sequence[bytes]
) -> bool:
    """True if `proof` shows that a leaf with the hash `leaf` is in the tree.

    The steps are those of RFC 9162, section 2.1.3.2.
    """
    if not 0 <= index < size:
        return False
    position = index
    last = size - 1
    found = leaf
    for sibling in proof:
        if last == 0:
            return False
        if position % 2 or position == last:
            found = node_hash(sibling, found)
            while position % 2 == 0 and position:
                position //= 2
                last //= 2
        else:
            found = node_hash(found, sibling)
        position //= 2
        last //= 2
    return last == 0 and found == root


def consistency_proof(old: int, new: int, node: ReadNode) -> list[bytes]:
    """Return the proof that the tree of `new` leaves begins with that of `old`.

    It is empty if the sizes are equal or `old` is 0. Raises ValueError if the tree
    would have shrunk.
    """
    if not 0 <= old <= new:
        raise ValueError(f"a tree of {new} leaves cannot begin with {old} leaves")
    proof: list[bytes] = []
    if old in (0, new):
        return proof
    start, end = 0, new
    while end != old:
        middle = start + _largest_power_below(end - start)
        if old <= middle:
            proof.append(_range_root(middle, end, node))
            end = middle
        else:
            proof.append(_range_root(start, middle, node))
            start = middle
    if start:  # otherwise the old root itself is this subtree
        proof.append(_range_root(start, end, node))
    proof.reverse()
    return proof


def is_consistent(
    old: int, old_root: bytes, new: int, new_root: bytes, proof: Sequence[bytes]
) -> bool:
    """True if `proof` shows that the new tree begins with the old one.

    The steps are those of RFC 9162, section 2.1.4.2.
    """
    if old > new:
        return False
    if old in (0, new):
        same = old == 0 or old_root == new_root
        return same and not proof
    hashes = list(proof)
    if old & (old - 1) == 0:  # the old tree is one complete subtree
        hashes.insert(0, old_root)
    if not hashes:
        return False
    return _grown(old, new, hashes) == (old_root, new_root)


def _grown(old: int, new: int, hashes: list[bytes]) -> tuple[bytes, bytes] | None:
    """Return the old and the new root that follow from a consistency proof."""
    position = old - 1
    last = new - 1
    while position % 2:
        position //= 2
        last //= 2
    old_root = new_root = hashes[0]
    for sibling in hashes[1:]:
        if last == 0:
            return None
        if position % 2 or position == last:
            old_root = node_hash(sibling, old_root)
            new_root = node_hash(sibling, new_root)
            while position % 2 == 0 and position:
                position //= 2
                last //= 2
        else:
            new_root = node_hash(new_root, sibling)
        position //= 2
        last //= 2
    return (old_root, new_root) if last == 0 else None


def _largest_power_below(count: int) -> int:
    """Return the largest power of two that is smaller than `count`, which is > 1."""
    return 1 << ((count - 1).bit_length() - 1)


def _range_root(start: int, end: int, node: ReadNode) -> bytes:
    """Return the hash of the leaves from `start` to `end`.

    `start` has to be a multiple of the largest power of two that fits in the range.
    """
    hashes = []
    while start < end:
        level = (end - start).bit_length() - 1
        hashes.append(node(level, start >> level))
        start += 1 << level
    return _joined(hashes)


def _joined(hashes: Sequence[bytes]) -> bytes:
    """Return the root above complete subtrees, the largest of which is the first."""
    *larger, root = hashes
    for left in reversed(larger):
        root = node_hash(left, root)
    return root
