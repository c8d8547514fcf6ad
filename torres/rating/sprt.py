"""A sequential test of whether the new version of a bot is better than the old one.

The observations are the scores of independent blocks (`torres.rating.blocks`):
numbers from 0 (the old version won everything) to 1 (the new one did). The test is the
generalised sequential probability ratio test (GSPRT) of chess programmers, with the
effect measured as a *t-value*: (mean - 1/2) / standard deviation of a block's score.
So ties, luck and the number of seats need no model of their own.

Effects are stated in normalised Elo (nElo): 800 / ln 10 × the t-value of one game. A
block of n games has a t-value √n times as large. The expected length of a test follows
from its bounds alone. Source: M. Van den Bergh, "Normalized Elo", and the tests of
Stockfish; `tests/ratings/test_sprt.py` has published results.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

NELO_PER_T = 800 / math.log(10)
EQUAL = 0.5
"""The mean score of a block if both versions are equally good."""
PSEUDO_COUNT = 1e-3
"""The weight of a possible score that was not observed yet. Without it, a bot that
wins all blocks would have no variance, and no t-value."""
MIN_SHARE_TO_START = 1e-3
"""If a score is rarer, the fit of a t-value starts with equal shares."""
MAX_STEPS = 100
TOLERANCE = 1e-8

Scores = Mapping[float, float]
"""The number of blocks by score."""


class SprtDecision(StrEnum):
    """The state of a test: it goes on, or one of its hypotheses was accepted."""

    CONTINUE = "continue"
    ACCEPT_H0 = "accept_h0"
    ACCEPT_H1 = "accept_h1"


@dataclass(frozen=True, slots=True)
class Moments:
    """The number of blocks, the mean and the variance of their scores."""

    blocks: float
    mean: float
    variance: float

    @property
    def t_value(self) -> float:
        return (self.mean - EQUAL) / math.sqrt(self.variance)


@dataclass(frozen=True, slots=True)
class SequentialTest:
    """The hypotheses H0 (effect ≤ ``nelo0``) and H1 (effect ≥ ``nelo1``).

    ``alpha`` bounds the probability to accept H1 at ``nelo0``, and ``beta`` that to
    accept H0 at ``nelo1``. ``games_per_block`` converts between games and blocks.
    No decision is made before ``min_blocks``: a variance needs some data.
    """

    nelo0: float = 0.0
    nelo1: float = 50.0
    alpha: float = 0.05
    beta: float = 0.05
    games_per_block: int = 2
    min_blocks: int = 16

    @property
    def t0(self) -> float:
        return self.block_t(self.nelo0)

    @property
    def t1(self) -> float:
        return self.block_t(self.nelo1)

    @property
    def lower(self) -> float:
        """The LLR at which H0 is accepted."""
        return math.log(self.beta / (1 - self.alpha))

    @property
    def upper(self) -> float:
        """The LLR at which H1 is accepted."""
        return math.log((1 - self.beta) / self.alpha)

    def block_t(self, nelo: float) -> float:
        """Return the t-value of a block for an effect in nElo."""
        return nelo / NELO_PER_T * math.sqrt(self.games_per_block)

    def nelo(self, block_t: float) -> float:
        """Return the effect in nElo for the t-value of a block."""
        return block_t * NELO_PER_T / math.sqrt(self.games_per_block)

    def llr(self, scores: Scores) -> float:
        """Return the log-likelihood ratio of H1 and H0 after these blocks."""
        return llr(scores, self.t0, self.t1)

    def decide(self, scores: Scores) -> SprtDecision:
        """Return the decision after these blocks."""
        if sum(scores.values()) < self.min_blocks:
            return SprtDecision.CONTINUE
        ratio = self.llr(scores)
        if ratio >= self.upper:
            return SprtDecision.ACCEPT_H1
        return SprtDecision.ACCEPT_H0 if ratio <= self.lower else SprtDecision.CONTINUE

    def pass_probability(self, nelo: float) -> float:
        """Return the probability that H1 is accepted if this is the effect."""
        h = self._drift(nelo)
        if abs(h) < TOLERANCE:
            return -self.lower / (self.upper - self.lower)
        return math.expm1(-h * self.lower) / (
            math.exp(-h * self.lower) - math.exp(-h * self.upper)
        )

    def expected_games(self, nelo: float) -> float:
        """Return the expected number of games if this is the effect (Wald)."""
        h = self._drift(nelo)
        width = self.t1 - self.t0
        if abs(h) < TOLERANCE:
            blocks = -self.lower * self.upper / width**2
        else:
            up = self.pass_probability(nelo)
            llr_at_end = self.upper * up + self.lower * (1 - up)
            blocks = 2 / h * llr_at_end / width**2
        return blocks * self.games_per_block

    @property
    def worst_expected_games(self) -> float:
        """The expected number of games for an effect in the middle of the bounds."""
        return self.expected_games((self.nelo0 + self.nelo1) / 2)

    def _drift(self, nelo: float) -> float:
        """Return where an effect is between the bounds: -1 at H0, 1 at H1."""
        return (2 * nelo - self.nelo0 - self.nelo1) / (self.nelo1 - self.nelo0)


def moments(scores: Scores) -> Moments:
    """Return the moments of the scores, with pseudo-counts for 0, 1/2 and 1."""
    counts = _regularised(scores)
    blocks = sum(counts.values())
    mean = sum(score * n for score, n in counts.items()) / blocks
    variance = sum((score - mean) ** 2 * n for score, n in counts.items()) / blocks
    return Moments(blocks, mean, variance)


def llr(scores: Scores, t0: float, t1: float) -> float:
    """Return the generalised log-likelihood ratio of two t-values.

    Each likelihood is the largest one of any distribution on the scores that has the
    t-value (empirical likelihood).
    """
    counts = _regularised(scores)
    blocks = sum(counts.values())
    values = list(counts)
    shares = [n / blocks for n in counts.values()]
    fit0 = _fit(values, shares, t0)
    fit1 = _fit(values, shares, t1)
    return blocks * sum(
        share * math.log(p1 / p0)
        for share, p0, p1 in zip(shares, fit0, fit1, strict=True)
    )


def _regularised(scores: Scores) -> dict[float, float]:
    counts = {0.0: PSEUDO_COUNT, EQUAL: PSEUDO_COUNT, 1.0: PSEUDO_COUNT}
    counts.update({float(s): max(n, PSEUDO_COUNT) for s, n in scores.items()})
    return counts


def _fit(values: list[float], shares: list[float], t: float) -> list[float]:
    """Return the most likely distribution with this t-value.

    The condition mean - 1/2 = t × deviation is not linear in the probabilities. So each
    step replaces it by its linear approximation at the last distribution (the influence
    function of the deviation), for which the fit is exact.
    """
    fitted = shares
    if t and min(shares) < MIN_SHARE_TO_START:
        fitted = [1 / len(values)] * len(values)
    for _ in range(MAX_STEPS):
        mean = sum(a * p for a, p in zip(values, fitted, strict=True))
        variance = sum((a - mean) ** 2 * p for a, p in zip(values, fitted, strict=True))
        deviation = math.sqrt(variance)
        conditions = [
            a - EQUAL - t * deviation * (1 + (a - mean) ** 2 / variance) / 2
            for a in values
        ]
        last = fitted
        fitted = _fit_mean(conditions, shares)
        if max(abs(p - q) for p, q in zip(fitted, last, strict=True)) < TOLERANCE:
            break
    return fitted


def _fit_mean(values: list[float], shares: list[float]) -> list[float]:
    """Return the most likely distribution for which the values have the mean 0.

    It is share / (1 + x × value), where x solves Σ share × value / (1 + x × value) = 0
    (Owen, Empirical Likelihood, 2001). The sum falls in x, so Newton's method with a
    bracket converges.
    """
    low = -1 / max(values)
    high = -1 / min(values)
    x = 0.0
    for _ in range(MAX_STEPS):
        terms = [value / (1 + x * value) for value in values]
        slope = -sum(s * term * term for s, term in zip(shares, terms, strict=True))
        error = sum(s * term for s, term in zip(shares, terms, strict=True))
        if error > 0:
            low = x
        else:
            high = x
        step = x - error / slope
        # Newton's steps are fast in the middle, and leave the bracket near its ends.
        following = step if low < step < high else (low + high) / 2
        if abs(following - x) <= TOLERANCE * (1 + abs(x)):
            break
        x = following
    return [s / (1 + x * value) for s, value in zip(shares, values, strict=True)]
