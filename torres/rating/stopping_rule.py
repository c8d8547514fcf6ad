"""The stopping rule of finals: when the order of the prize ranks is settled.

The rule for people is in docs/ratings.md, section "Seasons and finals". Skills are
independent normal distributions, as in TrueSkill. The error of the order is bounded by
a union bound, which holds however the errors of its parts depend on each other. The
module knows no database.
"""

from collections.abc import Sequence

from torres.rating.trueskill import Skill, higher_skill_probability

MAX_ORDER_ERROR = 0.05
"""Finals end when the prize order is wrong with at most this probability."""
ELIMINATION_PROBABILITY = 0.001
"""A bot is eliminated when its probability of being better than the last prize rank
falls below this."""
MAX_FINALS_GAMES = 400
"""A bot that has played this many games in the finals plays no more of them."""


def order_error(board: Sequence[Skill], prizes: int) -> float:
    """Return an upper bound of the probability that the prize order is wrong.

    `board` is sorted by shown rating, best first. The order is right if each prize rank
    is better than the next one, and the last prize rank is better than every bot below
    it. The bound is the sum of the probabilities of the opposite events.
    """
    ranks = min(prizes, len(board) - 1)
    if ranks < 1:
        return 0.0
    last = board[ranks - 1]
    swapped = [
        higher_skill_probability(board[k + 1], board[k]) for k in range(ranks - 1)
    ]
    overtaken = sum(higher_skill_probability(skill, last) for skill in board[ranks:])
    return sum(swapped) + overtaken


def remaining_indices(
    board: Sequence[Skill], prizes: int, *, at_least: int
) -> list[int]:
    """Return the 0-based indices on the board of the bots that are not eliminated.

    The bots on the prize ranks, the next bot, and the first `at_least` bots of the
    board are never eliminated.
    """
    if not board:
        return []
    last_prize = board[min(prizes, len(board)) - 1]
    return [
        index
        for index, skill in enumerate(board)
        if index < max(prizes + 1, at_least)
        or higher_skill_probability(skill, last_prize) >= ELIMINATION_PROBABILITY
    ]
