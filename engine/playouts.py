"""Random games from many positions in one call.

Each game has a seed of its own, which follows from the seed of the call, so that equal
calls give equal results, compiled or not.
"""

from array import array
from collections.abc import Sequence

from engine.evaluation import check_seat
from engine.kernel import Position
from engine.rulesets import MAX_SEATS

_ALL = 0xFFFFFFFFFFFFFFFF  # 64 bits
_STEP = 0x9E3779B97F4A7C15  # the constants of splitmix64
_FIRST_FACTOR = 0xBF58476D1CE4E5B9
_SECOND_FACTOR = 0x94D049BB133111EB


def seed_of(seed: int, number: int) -> int:
    """Return the seed of the game with that number (splitmix64); both are below 2^64.

    Neighbouring numbers give seeds that have nothing in common.
    """
    mixed = (seed + _STEP * (number + 1)) & _ALL
    mixed = ((mixed ^ (mixed >> 30)) * _FIRST_FACTOR) & _ALL
    mixed = ((mixed ^ (mixed >> 27)) * _SECOND_FACTOR) & _ALL
    return mixed ^ (mixed >> 31)


def play_out(positions: Sequence[Position], games: int, seed: int) -> "array[int]":
    """Return the final scores of random games, `games` from each of some positions.

    The array has 32-bit numbers with the shape (positions, games, 4): the score of seat
    `s` in game `g` of position `p` is at `4 * (games * p + g) + s`, and seats that do
    not exist have 0. The positions do not change. `seed` is a number from 0 and below
    2^64.
    """
    scores = array("i", bytes(4 * MAX_SEATS * games * len(positions)))
    if scores:
        _play_all(list(positions), games, seed, scores)
    return scores


def _play_all(
    positions: list[Position], games: int, seed: int, out: "array[int]"
) -> None:
    game = Position()
    number = 0
    for position in positions:
        for _ in range(games):
            game.assign(position)
            game.playout(seed_of(seed, number))
            for seat in range(MAX_SEATS):
                out[MAX_SEATS * number + seat] = game.track.scores[seat]
            number += 1


def average_leads(
    positions: Sequence[Position], seat: int, games: int, seed: int
) -> list[float]:
    """Return for each position the average lead of a seat over its best rival.

    The average is that of `games` random games from the position, at least one. Raises
    ValueError for a wrong seat or number of games.
    """
    check_seat(positions, seat)
    if games < 1:
        raise ValueError(f"{games} games; at least 1 is needed")
    scores = play_out(positions, games, seed)
    return [
        _sum_of_leads(scores, position.seats, seat, games * number, games) / games
        for number, position in enumerate(positions)
    ]


def _sum_of_leads(
    scores: "array[int]", seats: int, seat: int, first: int, games: int
) -> int:
    total = 0
    for game in range(first, first + games):
        best = -1  # below every score
        for other in range(seats):
            if other != seat and scores[MAX_SEATS * game + other] > best:
                best = scores[MAX_SEATS * game + other]
        total += scores[MAX_SEATS * game + seat] - best
    return total
