"""Weights of games by which many bots that are alike count as one.

A bot that beats one opponent far more often than their strengths say gains by each copy
of that opponent on the ladder, because it meets the same weakness again and again. If
the copies share one vote, they weigh for each bot as much as the one opponent that it
met most often. Arrays and numbers only.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import permutations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from torres.rating.plackett_luce import MAX_SEATS, Floats, Integers


class Voter(NamedTuple):
    """The bot of a submission. Bots with the same `voice` share one vote."""

    bot: int
    voice: int


def shared_vote_weights(seats: Integers, voters: Sequence[Voter]) -> Floats:
    """Return the weight of each game.

    `seats` has the submissions of each game, with -1 for an empty seat. For each two
    seats of a game the games of the first bot with the other's voice are counted, and
    those with the one bot that it met most often. The weight is the smallest ratio of
    the second number to the first, or 1. So a voice of a single bot changes nothing,
    and neither do the versions of one bot.
    """
    _, bot_of = np.unique([voter.bot for voter in voters], return_inverse=True)
    _, voice_of = np.unique([voter.voice for voter in voters], return_inverse=True)
    met = np.zeros((bot_of.max(initial=0) + 1, bot_of.max(initial=0) + 1))
    heard = np.zeros((len(met), voice_of.max(initial=0) + 1))
    for _, one, other in _pairs_of_seats(seats):
        np.add.at(met, (bot_of[one], bot_of[other]), 1)
        np.add.at(heard, (bot_of[one], voice_of[other]), 1)
    most = met.max(axis=1)
    weights = np.ones(len(seats))
    for games, one, other in _pairs_of_seats(seats):
        ratio = most[bot_of[one]] / heard[bot_of[one], voice_of[other]]
        weights[games] = np.minimum(weights[games], ratio)
    return weights


def _pairs_of_seats(
    seats: Integers,
) -> Iterator[tuple[NDArray[np.bool_], Integers, Integers]]:
    """Yield for each two seats the games that have both, and their submissions."""
    for one, other in permutations(range(MAX_SEATS), 2):
        games = (seats[:, one] >= 0) & (seats[:, other] >= 0)
        yield games, seats[games, one], seats[games, other]


def connected(pairs: Iterable[Sequence[int]]) -> dict[int, int]:
    """Return the smallest number to which each number is connected by pairs."""
    smallest: dict[int, int] = {}

    def root(number: int) -> int:
        while smallest.setdefault(number, number) != number:
            number = smallest[number]
        return number

    for one, other in pairs:
        low, high = sorted((root(one), root(other)))
        smallest[high] = low
    return {number: root(number) for number in list(smallest)}
