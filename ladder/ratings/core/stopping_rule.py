"""When the prize places are settled: the published rule, as numbers. No database.

The rule for people is in README.md of this room. Skills are independent normals, as
TrueSkill holds them; the doubt is a union bound, so the order of the prize places is
right with at least 1 - doubt, however the doubts of its parts hang together.
"""

import math
from collections.abc import Sequence

from ladder.ratings.core.trueskill import Skill

DOUBT = 0.05
"""Finals end when the order of the prize places is wrong with at most this."""
CHANCE = 0.001
"""Who is better than the last prize place with less than this plays no more."""
MOST_GAMES = 400
"""Who has so many games in the finals has had its say."""


def better(one: Skill, other: Skill) -> float:
    """Return the probability that the first skill is higher than the second."""
    apart = (one.mu - other.mu) / math.hypot(one.sigma, other.sigma)
    return 0.5 * math.erfc(-apart / math.sqrt(2))


def doubt(board: Sequence[Skill], prizes: int) -> float:
    """Return at most how probable it is that the first places are in another order.

    `board` is best first, as it is shown. Each prize place has to be better than the
    next, and the last of them than everybody behind it.
    """
    places = min(prizes, len(board) - 1)
    if places < 1:
        return 0.0
    last = board[places - 1]
    order = [better(board[k + 1], board[k]) for k in range(places - 1)]
    return sum(order) + sum(better(other, last) for other in board[places:])


def contenders(board: Sequence[Skill], prizes: int, *, least: int) -> list[int]:
    """Return the places, from 0, of those who still play; `least` of them anyway."""
    last = board[min(prizes, len(board)) - 1] if board else Skill(0, 1)
    return [
        place
        for place, skill in enumerate(board)
        if place < max(prizes + 1, least) or better(skill, last) >= CHANCE
    ]
