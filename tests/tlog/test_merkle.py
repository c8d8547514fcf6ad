"""Trees and proofs, compared with pymerkle, an independent implementation."""

import random
from collections.abc import Sequence

import pymerkle
import pytest

from tests.tlog.trees import tree_root
from torres.tlog import merkle
from torres.tlog.merkle import Frontier, leaf_hash, node_hash
from torres.tlog.tiles import (
    TILE_WIDTH,
    TileAddress,
    TileTree,
    pack_bundle,
    subtree_root,
    tile_path,
    unpack_bundle,
)


def subproof(old: int, hashes: list[bytes], *, is_known: bool) -> list[bytes]:
    """SUBPROOF of RFC 6962, section 2.1.2, written as it stands there."""
    if old == len(hashes):
        return [] if is_known else [tree_root(hashes)]
    power = 1
    while power * 2 < len(hashes):
        power *= 2
    left, right = hashes[:power], hashes[power:]
    if old <= power:
        return [*subproof(old, left, is_known=is_known), tree_root(right)]
    return [*subproof(old - power, right, is_known=False), tree_root(left)]


SIZES = (1, 2, 3, 4, 7, 8, 13, 64, 100)


def leaves(count: int) -> list[bytes]:
    return [f"leaf {number}".encode() for number in range(count)]


def reader(hashes: Sequence[bytes]) -> merkle.ReadNode:
    """Read nodes without tiles."""

    def node(level: int, index: int) -> bytes:
        start = index << level
        return subtree_root(b"".join(hashes[start : start + (1 << level)]))

    return node


def tiles(hashes: Sequence[bytes]) -> TileTree:
    """Read nodes from tiles, as a log serves them."""

    def read(address: TileAddress) -> bytes:
        row = list(hashes)
        for _ in range(address.level):
            complete = len(row) // TILE_WIDTH * TILE_WIDTH
            starts = range(0, complete, TILE_WIDTH)
            row = [subtree_root(b"".join(row[k : k + TILE_WIDTH])) for k in starts]
        start = address.index * TILE_WIDTH
        found = row[start : start + address.width]
        assert len(found) == address.width
        return b"".join(found)

    return TileTree(len(hashes), read)


def their_tree(count: int) -> pymerkle.InmemoryTree:
    tree = pymerkle.InmemoryTree(algorithm="sha256")
    for leaf in leaves(count):
        tree.append_entry(leaf)
    return tree


@pytest.mark.parametrize("size", SIZES)
def test_roots_and_inclusion_proofs_are_those_of_pymerkle(size: int) -> None:
    theirs = their_tree(size)
    hashes = [leaf_hash(leaf) for leaf in leaves(size)]
    root = tree_root(hashes)
    assert root == theirs.get_root()
    assert root == merkle.root_at(size, reader(hashes))
    for index in range(size):
        proof = merkle.inclusion_proof(index, size, reader(hashes))
        path = theirs.prove_inclusion(index + 1, size).path
        assert path[0] == hashes[index]
        assert sorted(path[1:]) == sorted(proof)
        assert merkle.includes(root, size, index, hashes[index], proof)


@pytest.mark.parametrize("new", SIZES)
def test_consistency_is_that_of_pymerkle(new: int) -> None:
    theirs = their_tree(new)
    hashes = [leaf_hash(leaf) for leaf in leaves(new)]
    new_root = tree_root(hashes)
    for old in range(1, new + 1):
        proof = merkle.consistency_proof(old, new, reader(hashes))
        old_root = tree_root(hashes[:old])
        assert old_root == theirs.get_root(old)
        assert merkle.is_consistent(old, old_root, new, new_root, proof)
        assert proof == subproof(old, hashes, is_known=True)


@pytest.mark.parametrize("seed", range(40))
def test_a_changed_proof_proves_nothing(seed: int) -> None:
    rng = random.Random(seed)
    size = rng.randrange(2, 200)
    hashes = [leaf_hash(leaf) for leaf in leaves(size)]
    root = tree_root(hashes)
    index = rng.randrange(size)
    proof = merkle.inclusion_proof(index, size, reader(hashes))
    other = (index + 1) % size
    assert not merkle.includes(root, size, index, hashes[other], proof)
    assert not merkle.includes(root, size, other, hashes[index], proof)
    assert not merkle.includes(root, size, size, hashes[index], proof)
    assert not merkle.includes(root, size, index, hashes[index], proof[:-1])
    assert not merkle.includes(root, size, index, hashes[index], [*proof, root])
    changed = list(proof)
    changed[rng.randrange(len(proof))] = rng.randbytes(32)
    assert not merkle.includes(root, size, index, hashes[index], changed)


@pytest.mark.parametrize("seed", range(40))
def test_a_tree_that_does_not_begin_with_the_old_one_is_found(seed: int) -> None:
    rng = random.Random(seed)
    new = rng.randrange(2, 200)
    old = rng.randrange(1, new)
    hashes = [leaf_hash(leaf) for leaf in leaves(new)]
    forked = list(hashes)
    forked[rng.randrange(old)] = rng.randbytes(32)
    old_root = tree_root(hashes[:old])
    forked_root = tree_root(forked)
    proof = merkle.consistency_proof(old, new, reader(forked))
    assert not merkle.is_consistent(old, old_root, new, forked_root, proof)
    assert not merkle.is_consistent(new, forked_root, old, old_root, [])
    honest = merkle.consistency_proof(old, new, reader(hashes))
    assert not merkle.is_consistent(old, old_root, new, forked_root, honest)
    root = tree_root(hashes)
    assert not merkle.is_consistent(old, old_root, new, root, [*honest, root])
    assert not merkle.is_consistent(old, old_root, new, root, [])


def test_a_frontier_is_stored_and_grows_on() -> None:
    frontier = Frontier()
    assert frontier.root() == merkle.EMPTY_ROOT
    for number, leaf in enumerate(leaves(300)):
        frontier = Frontier.load(number, frontier.dump())
        frontier.append(leaf_hash(leaf))
    assert frontier.root() == their_tree(300).get_root()
    with pytest.raises(ValueError, match="300"):
        Frontier.load(300, frontier.dump()[:-1])


@pytest.mark.parametrize("size", [1, 255, 256, 257, 70_000])
def test_proofs_from_tiles_are_the_same(size: int) -> None:
    hashes = [leaf_hash(leaf) for leaf in leaves(size)]
    tree = tiles(hashes)
    root = tree_root(hashes)
    assert merkle.root_at(size, tree.node) == root
    for index in (0, size // 2, size - 1):
        proof = merkle.inclusion_proof(index, size, tree.node)
        assert merkle.includes(root, size, index, hashes[index], proof)
    old = max(1, size // 3)
    proof = merkle.consistency_proof(old, size, tree.node)
    old_root = tree_root(hashes[:old])
    assert merkle.is_consistent(old, old_root, size, root, proof)


def test_bundles() -> None:
    texts = [b"", b"a", b"x" * 65535]
    assert unpack_bundle(pack_bundle(texts)) == texts
    for bad in (b"\0", b"\0\5abc"):
        with pytest.raises(ValueError, match="ends inside"):
            unpack_bundle(bad)


def test_hashes_of_leaves_and_nodes_differ() -> None:
    left, right = leaf_hash(b"a"), leaf_hash(b"b")
    assert leaf_hash(left + right) != node_hash(left, right)


def test_the_paths_of_tiles_are_those_of_the_specification() -> None:
    """C2SP tlog-tiles gives these examples."""
    assert tile_path(0, 1234067) == "tile/0/x001/x234/067"
    assert tile_path("entries", 0, 7) == "tile/entries/000.p/7"
