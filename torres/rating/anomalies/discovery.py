"""Find the tests among many that are no chance: false discoveries, an honest null.

Arrays and numbers only.
"""

import math

import numpy as np

from torres.rating.plackett_luce import Floats, Integers

MEDIAN_CHI_SQUARE = 0.4549
"""The median of the square of a standard normal variable."""
MAX_SPREAD_STEPS = 60


def upper_tail(scores: Floats) -> Floats:
    """Return the probability that a standard normal variable is at least each score."""
    halves = [math.erfc(score / math.sqrt(2)) / 2 for score in scores.tolist()]
    return np.array(halves, dtype=np.float64)


def discoveries(probabilities: Floats, rate: float) -> Integers:
    """Return the tests that found something, the surest first.

    Of the returned tests the share `rate` is expected to be wrong (Benjamini &
    Hochberg, Controlling the false discovery rate, 1995). If no effect is real, the
    probability of any discovery is at most `rate`.
    """
    order = np.argsort(probabilities, kind="stable")
    limits = rate * np.arange(1, len(order) + 1) / max(1, len(order))
    passed = np.flatnonzero(probabilities[order] <= limits)
    return order[: passed[-1] + 1] if len(passed) else order[:0]


def common_spread(effects: Floats, errors: Floats) -> float:
    """Return the spread of true effects that nobody intends.

    Real bots differ from the model: one style suits another. So effects scatter more
    than their standard errors say. This is the standard deviation that must be added so
    that half of all effects are as small as they should be (an empirical null; Efron,
    Large-scale simultaneous hypothesis testing, 2004). The median ignores the few pairs
    that cheat.
    """
    if not len(effects):
        return 0.0
    squares = effects**2
    variances = errors**2
    low = 0.0
    high = 2 * float(np.abs(effects).max())
    if np.median(squares / variances) <= MEDIAN_CHI_SQUARE:
        return 0.0
    for _ in range(MAX_SPREAD_STEPS):
        middle = (low + high) / 2
        if np.median(squares / (variances + middle**2)) > MEDIAN_CHI_SQUARE:
            low = middle
        else:
            high = middle
    return high
