"""The games of a season as arrays, and how far results were from the prediction.

Arrays and numbers only: no bots, no database. Submissions and bots are indices from 0.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from torres.rating.plackett_luce import MAX_SEATS, Floats, Integers, SeasonResults

Booleans = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class SeasonGames:
    """The games in the order in which they were rated, with four columns for seats.

    `results` is as the strengths are fitted from. `forfeits` says which seats
    forfeited. `bots` is the bot of each submission.
    """

    results: SeasonResults
    forfeits: Booleans
    bots: Integers

    @property
    def present(self) -> Booleans:
        return self.results.seats >= 0

    @property
    def sizes(self) -> Integers:
        """The number of seats of each game."""
        return np.asarray(self.present.sum(axis=1), dtype=np.int64)

    def bot_seats(self) -> Integers:
        """Return the bot at each seat, -1 for an empty one."""
        padded = np.append(self.bots, -1)
        return padded[self.results.seats]


@dataclass(frozen=True, slots=True)
class Comparisons:
    """Each pair of seats of each game, as arrays of games × seats × seats.

    `surplus[g, i, j]` is 1 if seat i beat seat j, 1/2 for a tie, 0 otherwise, minus
    the predicted probability. `variances` is the variance that the prediction implies.
    Both are 0 for empty seats and on the diagonal.
    """

    surplus: Floats
    variances: Floats


def comparisons(games: SeasonGames, strengths: Floats) -> Comparisons:
    """Compare each result with the Plackett-Luce model at these strengths.

    By Luce's axiom the other seats do not matter: i beats j with the probability of the
    logistic curve at the difference of their strengths.
    """
    present = games.present
    at = np.append(strengths, 0.0)[games.results.seats]
    expected = 1 / (1 + np.exp(at[:, None, :] - at[:, :, None]))
    ranks = games.results.ranks
    beats = np.sign(ranks[:, None, :] - ranks[:, :, None]) / 2 + 0.5
    valid = present[:, :, None] & present[:, None, :]
    valid &= ~np.eye(MAX_SEATS, dtype=bool)
    surplus = np.where(valid, beats - expected, 0.0)
    variances = np.where(valid, expected * (1 - expected), 0.0)
    return Comparisons(surplus, variances)


@dataclass(frozen=True, slots=True)
class SeatSurplus:
    """By game and seat: the surplus in shares of all opponents, and its variance."""

    surplus: Floats
    variances: Floats


def seat_surplus(games: SeasonGames, compared: Comparisons) -> SeatSurplus:
    """Return by how much each seat beat a larger share of its opponents than predicted.

    The variance is that of independent comparisons. The comparisons of one game are not
    independent, so users scale it by what they see.
    """
    opponents = np.maximum(games.sizes - 1, 1)[:, None]
    return SeatSurplus(
        compared.surplus.sum(axis=2) / opponents,
        compared.variances.sum(axis=2) / opponents**2,
    )
