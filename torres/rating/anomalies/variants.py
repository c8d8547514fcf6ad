"""Owners who try many variants, and the true strength of the best of many tries.

The best of many estimates is too high, because luck helped to choose it (winner's
curse). An estimate that is drawn towards the mean of all tries has no such error:
Bayesian estimates do not depend on how one of them was chosen (Efron, Tweedie's formula
and selection bias, 2011).

Numbers only: no bots, no database.
"""

from dataclasses import dataclass

import numpy as np

from torres.rating.plackett_luce import Floats

MANY_VARIANTS = 10
"""An owner with this many submissions that played is listed."""
MIN_GAMES = 10
"""A submission is a variant when it has played this many games."""
FRESH_GAMES = 200
"""The estimate of the best is provisional until it has played this many games."""
CONVERGED = 1e-6


@dataclass(frozen=True, slots=True)
class BestOfMany:
    """The best of some estimates: which it is, and its value before and after.

    `error` is the standard error of `shrunk`, and `spread` the standard deviation of
    the true values of all tries.
    """

    index: int
    estimate: float
    shrunk: float
    error: float
    spread: float


def best_of_many(estimates: Floats, errors: Floats) -> BestOfMany:
    """Return the best estimate, drawn towards the mean of all.

    The spread of the true values is estimated from the tries themselves (Paule &
    Mandel, Consensus values and weighting factors, 1982).
    """
    variances = errors**2
    spread = _true_variance(estimates, variances)
    weights = 1 / (variances + spread)
    mean = float((weights * estimates).sum() / weights.sum())
    index = int(estimates.argmax())
    kept = float(spread / (spread + variances[index]))
    variance = kept * float(variances[index]) + (1 - kept) ** 2 / float(weights.sum())
    return BestOfMany(
        index,
        float(estimates[index]),
        mean + kept * (float(estimates[index]) - mean),
        variance**0.5,
        spread**0.5,
    )


def _true_variance(estimates: Floats, variances: Floats) -> float:
    """Return the variance of the true values that explains the scatter of all."""
    wanted = len(estimates) - 1
    low = 0.0
    high = float(np.ptp(estimates)) ** 2 + 1.0
    if _scatter(estimates, variances, low) <= wanted:
        return 0.0
    while high - low > CONVERGED:
        middle = (low + high) / 2
        if _scatter(estimates, variances, middle) > wanted:
            low = middle
        else:
            high = middle
    return high


def _scatter(estimates: Floats, variances: Floats, added: float) -> float:
    weights = 1 / (variances + added)
    mean = (weights * estimates).sum() / weights.sum()
    return float((weights * (estimates - mean) ** 2).sum())
