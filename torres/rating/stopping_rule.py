"""The stopping rule of finals: when the order of the prize ranks is settled.

The rule for people is in docs/ratings.md, section "Seasons and finals". It is a rule of
best arms: only the bots of undecided comparisons play on. Skills are independent normal
distributions, as in TrueSkill. The error of the order is bounded by a union bound,
which holds however the errors of its parts depend on each other. The module knows no
database.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

from torres.rating.trueskill import Skill, higher_skill_probability

MAX_ORDER_ERROR = 0.04
"""Finals end when this bounds the probability that the prize order is wrong. TrueSkill
is a little too sure: with 5 % 13 of 320 simulated finals, and 9 of 160 in one of two
kinds, made a wrong claim."""
EQUAL_BETAS = 0.3
"""Bots whose skills differ by less than this many β are equal for a prize: the better
one finishes ahead in 58 % of the duels. To find the better one would take thousands of
games.
"""
MAX_FINALS_GAMES = 800
"""A bot that has played this many games in the finals plays no more of them."""

_STANDARD_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True)
class PrizeComparison:
    """A claim about two bots of the board, by their 0-based indices.

    It says that they are `equal`, or else that `upper` is better than `lower`. `error`
    is the probability that it is wrong.
    """

    upper: int
    lower: int
    equal: bool
    error: float


def prize_comparisons(
    board: Sequence[Skill], prizes: int, beta: float
) -> list[PrizeComparison]:
    """Return the claims from which the order of the prize ranks follows.

    `board` is sorted by shown rating, best first. Each prize rank is compared with the
    next one, and the last prize rank with every bot below it. Of both claims about two
    bots the one that is more probable counts.
    """
    last = min(prizes, len(board) - 1) - 1
    if last < 0:
        return []
    pairs = [(rank, rank + 1) for rank in range(last)]
    pairs += [(last, below) for below in range(last + 1, len(board))]
    found = []
    for upper, lower in pairs:
        wrong = higher_skill_probability(board[lower], board[upper])
        unequal = _unequal_probability(board[upper], board[lower], EQUAL_BETAS * beta)
        error = min(wrong, unequal)
        found.append(PrizeComparison(upper, lower, unequal < wrong, error))
    return found


def _unequal_probability(one: Skill, other: Skill, margin: float) -> float:
    """Return the probability that two skills differ by more than the margin."""
    difference = abs(one.mu - other.mu)
    spread = math.hypot(one.sigma, other.sigma)
    above = _STANDARD_NORMAL.cdf((difference - margin) / spread)
    return above + _STANDARD_NORMAL.cdf((-difference - margin) / spread)


def order_error(comparisons: Sequence[PrizeComparison]) -> float:
    """Return an upper bound of the probability that a claim of the order is wrong."""
    return sum(comparison.error for comparison in comparisons)


def undecided_indices(
    comparisons: Sequence[PrizeComparison], *, at_least: int
) -> list[int]:
    """Return the 0-based indices on the board of the bots that have to play on.

    Those are the bots of the comparisons with the largest errors, until the errors of
    all others sum to half of `MAX_ORDER_ERROR` at most. More comparisons are added
    until there are `at_least` bots.
    """
    remaining = order_error(comparisons)
    bots: set[int] = set()
    for comparison in sorted(comparisons, key=lambda each: -each.error):
        if remaining <= MAX_ORDER_ERROR / 2 and len(bots) >= at_least:
            break
        remaining -= comparison.error
        bots |= {comparison.upper, comparison.lower}
    return sorted(bots)
