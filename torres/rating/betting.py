"""Evidence that may be looked at at any time: a bet against equality.

A gambler starts with 1 and bets on each block that its score is above the mean of the
hypothesis. With a stake λ the capital is multiplied by 1 + λ × (score - mean). If the
hypothesis is true, the bet is fair, and the capital exceeds 1/p with a probability of
at most p, ever (Ville's inequality). So the capital (the *e-value*) is evidence for an
author who looks at it after each game, stops or goes on as he likes, and adds games
later. It is the mean capital of gamblers with fixed stakes, so it depends on the scores
alone and not on their order.

The confidence interval contains all means that no bettor got rich against. It holds at
all times at once (Waudby-Smith and Ramdas, 2024), and never has the width 0.
"""

import math

from torres.rating.sprt import EQUAL, Scores

STAKES = tuple(0.01 * 1.3**k for k in range(18))
"""Stakes as shares of the largest one, with which a gambler can lose everything."""
BISECTIONS = 40
ALPHA = 0.05
"""The probability with which an interval may miss the mean."""


def e_value(scores: Scores, mean: float = EQUAL) -> float:
    """Return the evidence that the true mean of the scores is above ``mean``."""
    return math.exp(min(log_capital(scores, mean), 700.0))


def mirrored(scores: Scores) -> dict[float, float]:
    """Return the scores from the other side, for the opposite question."""
    return {1 - score: n for score, n in scores.items()}


def log_capital(scores: Scores, mean: float) -> float:
    """Return the logarithm of the mean capital of all gamblers."""
    logs = [
        sum(n * math.log1p(share / mean * (s - mean)) for s, n in scores.items())
        for share in STAKES
    ]
    most = max(logs)
    return most + math.log(sum(math.exp(log - most) for log in logs) / len(logs))


def confidence_sequence(scores: Scores) -> tuple[float, float]:
    """Return an interval for the mean that is right at all times.

    It misses the mean with a probability of at most ALPHA, half of it at each end.
    Without any scores it is (0, 1).
    """
    upper = 1 - _lower_end(mirrored(scores))
    return _lower_end(scores), upper


def _lower_end(scores: Scores) -> float:
    """Return the largest mean that the evidence excludes, by bisection."""
    blocks = sum(scores.values())
    if not blocks:
        return 0.0
    low = 0.0
    high = sum(s * n for s, n in scores.items()) / blocks
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        if middle > 0 and log_capital(scores, middle) >= -math.log(ALPHA / 2):
            low = middle
        else:
            high = middle
    return low
