"""The effect that a sequential test has measured, without the bias of stopping.

A test that stops when it is sure stops in a lucky moment: the plain mean then
exaggerates. The estimates here take the stopping rule into account. The sum of the
log-likelihood ratios is taken for a Brownian motion X(t) = drift × t + W(t) between two
absorbing boundaries, and all outcomes are ordered: stops at the lower boundary, the
earliest first; then the test goes on, by the value of X; then stops at the upper
boundary, the earliest last. The drift for which half of all outcomes are lower than the
observed one is the median-unbiased estimate; other shares give a confidence interval
(Siegmund, Sequential Analysis, 1985, section 3.4).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from torres.rating.betting import confidence_sequence
from torres.rating.sprt import (
    EQUAL,
    Moments,
    Scores,
    SequentialTest,
    SprtDecision,
    moments,
)

MAX_IMAGES = 10_000
NEGLIGIBLE = 1e-12
MAX_EXPONENT = 700.0  # e^x overflows a double soon after
BISECTIONS = 50
EXTRA_BLOCKS = 0.5
QUANTILES = (0.975, 0.5, 0.025)  # of the interval's low end, its middle, its high end
BRACKET = 4.0
"""The effect is searched within one deviation around the mean, or this many standard
errors if there are few blocks. Farther away the probabilities do not fall any more."""


@dataclass(frozen=True, slots=True)
class Effect:
    """The mean score of a block with its confidence interval, from 0 to 1.

    ``nelo`` is the same estimate in normalised Elo. It has no interval of its own,
    because the deviation of a version that wins nearly everything is hardly known.
    """

    score: float
    low: float
    high: float
    nelo: float


def stopped_effect(test: SequentialTest, scores: Scores) -> Effect:
    """Return the median-unbiased effect after these blocks.

    Blocks that ended after the test had stopped must not be among the scores. If all
    scores are equal, no chance was seen that could be modelled: the interval is then
    the one that holds at all times.
    """
    measured = _cautious_moments(scores)
    outcome = _outcome(test, scores, measured)
    middle = (test.t0 + test.t1) / 2
    deviation = math.sqrt(measured.variance)

    observed = [score for score, blocks in scores.items() if blocks]
    if len(observed) == 1:
        low, high = confidence_sequence(scores)
        return Effect(
            observed[0], low, high, test.nelo((observed[0] - EQUAL) / deviation)
        )
    margin = deviation * max(1.0, BRACKET / math.sqrt(measured.blocks))
    bracket = (max(0.0, measured.mean - margin), min(1.0, measured.mean + margin))

    def probability_below(score: float) -> float:
        """Return the share of lower outcomes if this is the true mean score.

        The variance is that around the true mean, not around the measured one: the
        interval of a bot that wins nearly all games is as wide as it must be.
        """
        spread = math.hypot(1, (measured.mean - score) / deviation)
        drift = (score - EQUAL) / deviation - middle
        return outcome.scaled(1 / spread).probability_below(drift / spread)

    def score_at(share: float) -> float:
        return _falling_root(lambda score: probability_below(score) - share, *bracket)

    low, score, high = (score_at(share) for share in QUANTILES)
    return Effect(score, low, high, test.nelo((score - EQUAL) / deviation))


@dataclass(frozen=True, slots=True)
class BrownianOutcome:
    """One outcome of a Brownian motion that starts at 0 between two boundaries.

    ``time`` and ``value`` are the last time and the value of the motion.
    """

    low: float
    high: float
    time: float
    value: float

    def probability_below(self, drift: float) -> float:
        """Return the probability of a lower outcome, given the drift."""
        if self.value >= self.high:
            return 1 - _hit_by(self.time, self.high, self.low, drift)
        hit_low = _hit_by(self.time, -self.low, -self.high, -drift)
        if self.value <= self.low:
            return hit_low
        return min(1.0, hit_low + self._inside_below(drift))

    def scaled(self, factor: float) -> "BrownianOutcome":
        """Return the outcome in units in which all values have this factor."""
        return BrownianOutcome(
            self.low * factor, self.high * factor, self.time, self.value * factor
        )

    def _inside_below(self, drift: float) -> float:
        """Return the probability to be between the boundaries and below the value.

        Method of images: each boundary is a mirror, and sources of alternating sign
        stand at 2k × width and at 2 × high - 2k × width.
        """
        width = self.high - self.low
        total = 0.0
        for k in range(MAX_IMAGES):
            term = 0.0
            for image in {k, -k}:
                shift = 2 * image * width
                term += self._mass(shift, drift)
                term -= self._mass(2 * self.high + shift, drift)
            total += term
            if k > 1 and abs(term) < NEGLIGIBLE:
                break
        return max(0.0, total)

    def _mass(self, source: float, drift: float) -> float:
        """Return the mass of one source between the lower boundary and the value."""
        root = math.sqrt(self.time)
        start = source + drift * self.time
        return _scaled_difference(
            drift * source, (self.low - start) / root, (self.value - start) / root
        )


def _cautious_moments(scores: Scores) -> Moments:
    """Return the moments, with the variance of half a block more at 0 and at 1.

    Without them a version that has won nearly everything would have an interval that
    is too narrow: simulated, it contains the truth in 60 % of all tests, not in 95 %.
    """
    added = dict(scores)
    for extreme in (0.0, 1.0):
        added[extreme] = added.get(extreme, 0.0) + EXTRA_BLOCKS
    return replace(moments(scores), variance=moments(added).variance)


def _outcome(
    test: SequentialTest, scores: Scores, measured: Moments
) -> BrownianOutcome:
    """Return the test as a Brownian motion of Σ (t-value of a block - middle).

    The boundaries are those of the LLR divided by the width of the bounds. A test that
    has stopped is at its boundary. Far from the bounds the LLR is not linear in the
    effect. So the boundary is put where the motion is when the test stops.
    """
    width = test.t1 - test.t0
    time = measured.blocks
    value = time * (measured.t_value - (test.t0 + test.t1) / 2)
    low = test.lower / width
    high = test.upper / width
    match test.decide(scores):
        case SprtDecision.ACCEPT_H1:
            high = value = max(value, NEGLIGIBLE)
        case SprtDecision.ACCEPT_H0:
            low = value = min(value, -NEGLIGIBLE)
        case _:
            high = max(high, value * (1 + NEGLIGIBLE))
            low = min(low, value * (1 + NEGLIGIBLE))
    return BrownianOutcome(low, high, time, value)


def _hit_by(time: float, high: float, low: float, drift: float) -> float:
    """Return the probability to reach ``high`` before ``low`` and by this time.

    The density of the first passage is a sum over images at high + 2k × width; each
    term is an inverse Gaussian density times a constant, so its integral is known.
    """
    width = high - low
    speed = abs(drift)
    root = math.sqrt(time)
    total = 0.0
    for k in range(MAX_IMAGES):
        term = 0.0
        for distance, sign in (
            (high + 2 * k * width, 1),
            (2 * (k + 1) * width - high, -1),
        ):
            near = (speed * time - distance) / root
            far = (speed * time + distance) / root
            term += sign * _scaled(drift * high - speed * distance, near)
            term += sign * _scaled(drift * high + speed * distance, -far)
        total += term
        if abs(term) < NEGLIGIBLE:
            break
    return min(1.0, max(0.0, total))


def _scaled(exponent: float, z: float) -> float:
    """Return e^exponent × Φ(z) without overflow."""
    if exponent < MAX_EXPONENT and z > -30:
        return math.exp(exponent) * 0.5 * math.erfc(-z / math.sqrt(2))
    # Φ(z) is near φ(z) / |z| in the far tail.
    scale = max(abs(z), 1.0) * math.sqrt(2 * math.pi)
    log_value = exponent - z * z / 2 - math.log(scale)
    return math.exp(log_value) if log_value < MAX_EXPONENT else math.inf


def _scaled_difference(exponent: float, low: float, high: float) -> float:
    """Return e^exponent × (Φ(high) - Φ(low)), from the tail that is more exact."""
    if low > 0:
        return _scaled(exponent, -low) - _scaled(exponent, -high)
    return _scaled(exponent, high) - _scaled(exponent, low)


def _falling_root(falls: Callable[[float], float], low: float, high: float) -> float:
    """Return where a falling function is 0; an end of the bracket if it is nowhere."""
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        if falls(middle) > 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2
