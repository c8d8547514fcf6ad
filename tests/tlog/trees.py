"""The root of a whole tree in one step, which only tests need."""

from collections.abc import Iterable

from torres.tlog.merkle import Frontier


def tree_root(leaves: Iterable[bytes]) -> bytes:
    """Return the root of a tree with these hashes of leaves."""
    frontier = Frontier()
    for leaf in leaves:
        frontier.append(leaf)
    return frontier.root()
