"""Weights of games by which many bots that are alike count as one.

A bot that beats one opponent far more often than their strengths say gains by each copy
of that opponent on the ladder, because it meets the same weakness again and again. If
the copies share one vote, the games with all of them together weigh as much as those
with one. Arrays and numbers only.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from torres.rating.plackett_luce import Floats, Integers


class Voter(NamedTuple):
    """The bot of a submission. Bots with the same `voice` share one vote."""

    bot: int
    voice: int


def shared_vote_weights(seats: Integers, voters: Sequence[Voter]) -> Floats:
    """Return the weight of each game.

    `seats` has the submissions of each game, with -1 for an empty seat. A submission
    has the vote 1/n if n bots share its voice, and a game weighs the product of the
    votes of its seats. All versions of a bot are one bot, because they share its games.
    """
    sharing = Counter(voter.voice for voter in set(voters))
    votes = np.array([1 / sharing[voter.voice] for voter in voters] + [1.0])
    return np.asarray(votes[seats].prod(axis=1))


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
