"""Blocks: the same deal played with complementary seatings, to compare two versions.

Luck of the deal and the advantage of a seat help both versions equally. So the
score of a block has the mean 1/2 if the versions are equally good, whatever the seats
and the opponents are.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

NEW = "new"
OLD = "old"
GAMES = 2
"""Each block has two games."""

_SIDES: dict[int, tuple[str, ...]] = {
    2: ("no",),
    3: ("noo", "ono", "oon"),
    4: ("nono", "noon", "nnoo"),
}
"""The first game of a block by number of seats: n for the new version, o for the old.
The second game has the versions exchanged. Blocks take turns with the rows."""


@dataclass(frozen=True, slots=True)
class BlockGame:
    """The seats of one game of a block: NEW, OLD, or the index of an opponent."""

    seats: tuple[str | int, ...]


def head_to_head(block: int, seats: int) -> tuple[BlockGame, BlockGame]:
    """Return the games of a block, counted from 0, between the two versions alone."""
    rows = _SIDES[seats]
    row = rows[block % len(rows)]
    names = {"n": NEW, "o": OLD}
    swapped = {"n": OLD, "o": NEW}
    return (
        BlockGame(tuple(names[letter] for letter in row)),
        BlockGame(tuple(swapped[letter] for letter in row)),
    )


def against_field(
    block: int, seats: int, opponents: int
) -> tuple[BlockGame, BlockGame]:
    """Return the games of a block against a field of this many opponents.

    Both versions play from the same seat against the same opponents. Blocks take turns
    with the seats, and with the choice of opponents if there are more than fit.
    """
    choices = list(combinations(range(opponents), seats - 1))
    rivals = choices[(block // seats) % len(choices)]
    own_seat = block % seats

    def game(version: str) -> BlockGame:
        return BlockGame((*rivals[:own_seat], version, *rivals[own_seat:]))

    return game(NEW), game(OLD)


def block_score(
    games: Sequence[BlockGame], ranks: Sequence[Sequence[int]], *, field: bool
) -> float:
    """Return the score of a block, from 0 (the old version is better) to 1.

    ``ranks`` are by game and by seat. Without a field it is the share of all pairs of
    a new and an old version that the new one wins. With a field it is 1/2 plus half the
    difference of the shares of opponents that the two versions beat.
    """
    if field:
        shares = {}
        for game, game_ranks in zip(games, ranks, strict=True):
            own_seat = next(k for k, s in enumerate(game.seats) if s in (NEW, OLD))
            shares[game.seats[own_seat]] = beaten_share(game_ranks, own_seat)
        return 0.5 + (shares[NEW] - shares[OLD]) / 2
    points = [
        _points(game_ranks[new], game_ranks[old])
        for game, game_ranks in zip(games, ranks, strict=True)
        for new, one in enumerate(game.seats)
        for old, other in enumerate(game.seats)
        if one == NEW and other == OLD
    ]
    return sum(points) / len(points)


def beaten_share(ranks: Sequence[int], seat: int) -> float:
    """Return the share of the other seats that a seat beat; a tie counts half."""
    others = [rank for k, rank in enumerate(ranks) if k != seat]
    return sum(_points(ranks[seat], rank) for rank in others) / len(others)


def _points(rank: int, other: int) -> float:
    if rank == other:
        return 0.5
    return 1.0 if rank < other else 0.0
