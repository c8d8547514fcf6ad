"""Strengths of all submissions of a season at once, with honest errors.

Each strength has a normal prior with mean 0. It keeps a submission finite that won or
lost all its games. Its standard deviation is estimated from the season itself
(empirical Bayes). That matters because a matchmaker pairs bots of about equal strength:
such games say little about the distance of the best from the worst, so a fixed prior
would decide it.

Arrays and numbers only: no bots, no database. A submission is an index from 0.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from torres.rating.plackett_luce import (
    MAX_SEATS,
    Floats,
    GameShape,
    Integers,
    SeasonResults,
    Slopes,
    shapes_of,
    skewness,
    slopes_at,
    sum_matrices,
    sum_vectors,
)
from torres.rating.trueskill import Parameters

MAX_NEWTON_STEPS = 50
CONVERGED_STEP = 1e-6
"""Newton's method ends when no parameter moves by more than this."""
MAX_WIDTH_STEPS = 30
CONVERGED_WIDTH = 0.01
"""The width of the prior is found when it changes by less than this share."""
TYPICAL_SUBMISSIONS = 4
"""To estimate the prior's width, its first guess counts as this many submissions."""
JUMP_SHARE = 0.7
"""The standard deviation of the jump to a version that is much better or worse, as a
share of the first guess of the prior's width."""
TWEAK_SHARE = 0.2
"""The same for a version that differs little: 1.7 points of the live board."""
JUMP_PROBABILITY = 0.4
"""The share of new versions that are jumps. `tests/ratings/test_new_versions.py` holds
the errors that follow from these three."""
TIE_PRIOR_SD = 10.0
"""The prior of each log δ, which says next to nothing."""
SCALE_OF_SEATS = {2: 0.99, 3: 1.01, 4: 1.025}
"""A distance is multiplied by the mean of these over the games, by number of seats.

Games cannot tell the shape of luck. With normal noise the estimated distances are too
long, with Gumbel noise too short: by 3.7 and -2 % with two seats, 1.1 and -2.6 % with
three, 0 and -4.8 % with four (40 ladders of each kind with 40 bots). The factors put
the middle of both at the truth."""
SCALE_SD = 0.03
"""The standard error of the scale itself, as a share of each distance: what the factors
leave. It changes no order, so `StrengthFit.covariance`, from which orders are judged,
does not contain it."""


@dataclass(frozen=True, slots=True)
class StrengthFit:
    """The estimate: strengths with their covariance, in logits.

    `scale` is the mean of `SCALE_OF_SEATS` over the games.
    """

    strengths: Floats
    covariance: Floats
    scale: float

    def above(self, anchors: Sequence[int]) -> tuple[Floats, Floats]:
        """Return each strength minus the mean of `anchors`, and its standard errors.

        Games tell only differences of strengths, so a scale needs anchors. Without any,
        the mean of all submissions is the zero point. The errors contain `SCALE_SD`.
        Both are on the scale of `SCALE_OF_SEATS`.
        """
        chosen = list(anchors) or list(range(len(self.strengths)))
        shared = self.covariance[:, chosen].mean(axis=1)
        variances = np.diag(self.covariance) - 2 * shared + shared[chosen].mean()
        values = self.scale * (self.strengths - self.strengths[chosen].mean())
        variances = self.scale**2 * np.maximum(variances, 0.0)
        return values, np.sqrt(variances + (SCALE_SD * values) ** 2)


@dataclass(frozen=True, slots=True)
class Peak:
    """The maximum of the posterior for one prior.

    `precision` is that of the prior, a matrix. `covariance` is the inverse of the
    posterior's curvature, and `means` the mean of the posterior up to the second order.
    """

    at: Floats
    slopes: Slopes
    precision: Floats
    covariance: Floats
    means: Floats


@dataclass(frozen=True, slots=True)
class Versions:
    """Which submissions follow each other as versions of one bot.

    `older` and `newer` have an index of each pair. `sd` is the width of the prior of
    each difference, and `doubt` a variance that this prior lacks. A submission that is
    in no `newer` is the first of its bot.
    """

    older: Integers
    newer: Integers
    sd: Floats
    doubt: Floats

    @classmethod
    def of(cls, pairs: Sequence[tuple[int, int]], sd: float) -> "Versions":
        """Return these pairs of (older, newer), with one width for all."""
        columns = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        ones = np.ones(len(columns))
        return cls(columns[:, 0], columns[:, 1], sd * ones, 0 * ones)

    def firsts(self, submissions: int) -> NDArray[np.bool_]:
        """Return for each submission whether it is the first of its bot."""
        is_first = np.ones(submissions, dtype=bool)
        is_first[self.newer] = False
        return is_first


def logits_per_point(parameters: Parameters) -> float:
    """Return how many logits are one point of the live board.

    With this factor both models give the same odds to bots of nearly equal strength,
    and a matchmaker pairs such bots: the logistic curve and the normal distribution of
    the difference of two performances have the same slope in the middle.
    """
    return 2 / (math.sqrt(math.pi) * parameters.beta)


def fit_strengths(
    results: SeasonResults,
    submissions: int,
    typical_sd: float,
    versions: Sequence[tuple[int, int]] = (),
) -> StrengthFit:
    """Return the strengths of all submissions. `typical_sd` is the first guess.

    `versions` has pairs of (older, newer) submissions of one bot.

    1. Group the games by shape, so that each group is computed at once.
    2. Find the width of the prior: the mean square of the strengths, by the EM
       algorithm. Each step finds the maximum of the posterior by Newton's method. A
       newer version may be at any distance from the older one.
    3. Decide how near each newer version is to the older one; see `_known_jumps`.
    4. Move from the maximum to the mean of the posterior, which is skewed for
       submissions that won or lost nearly all games.
    5. Compute the covariance; see `_covariance`.
    """
    shapes = shapes_of(results, submissions)
    sizes = len(results.tie_sizes())
    links = Versions.of(versions, JUMP_SHARE * typical_sd)
    is_first = links.firsts(submissions)
    width = typical_sd
    at = np.zeros(submissions + sizes)
    for _ in range(MAX_WIDTH_STEPS):
        precision = _precision(submissions, sizes, width, links)
        peak = peak_from(shapes, at, precision)
        at = peak.at
        last = width
        width = _width(peak, is_first, typical_sd)
        if abs(width - last) <= CONVERGED_WIDTH * last:
            break
    if versions:
        links = _known_jumps(links, peak, TWEAK_SHARE * typical_sd)
        precision = _precision(submissions, sizes, last, links)
        peak = peak_from(shapes, at, precision)
    covariance = _covariance(shapes, peak, is_first, last)
    np.add.at(covariance, (links.newer, links.newer), links.doubt)
    return StrengthFit(
        peak.means[:submissions],
        covariance[:submissions, :submissions],
        _scale(results),
    )


def _scale(results: SeasonResults) -> float:
    """Return the mean of `SCALE_OF_SEATS` over the games; 1 without any."""
    if not len(results.seats):
        return 1.0
    factors = np.array([SCALE_OF_SEATS.get(k, 1.0) for k in range(MAX_SEATS + 1)])
    return float(factors[(results.seats >= 0).sum(axis=1)].mean())


def _precision(submissions: int, sizes: int, width: float, links: Versions) -> Floats:
    """Return the precision of the prior, a matrix."""
    diagonal = np.full(submissions + sizes, TIE_PRIOR_SD**-2)
    diagonal[:submissions] = np.where(links.firsts(submissions), width**-2, 0.0)
    precision = np.diag(diagonal)
    between = links.sd**-2
    np.add.at(precision, (links.older, links.older), between)
    np.add.at(precision, (links.newer, links.newer), between)
    np.add.at(precision, (links.older, links.newer), -between)
    np.add.at(precision, (links.newer, links.older), -between)
    return precision


def _width(peak: Peak, is_first: NDArray[np.bool_], typical_sd: float) -> float:
    """Return the root of the expected mean square of the strengths of first versions.

    Those of later versions are near them, and would count a bot several times.
    """
    squares = peak.means[: len(is_first)] ** 2
    variances = np.diag(peak.covariance)[: len(is_first)]
    found = float((squares + variances)[is_first].sum())
    total = found + TYPICAL_SUBMISSIONS * typical_sd**2
    return math.sqrt(total / (is_first.sum() + TYPICAL_SUBMISSIONS))


def _known_jumps(links: Versions, peak: Peak, tweak_sd: float) -> Versions:
    """Return the pairs with the widths that the games suggest.

    A new version is a tweak, which is near the old one, or with the probability
    `JUMP_PROBABILITY` a jump. `peak` was found as if all were jumps. Take its prior out
    of it, which leaves what the games alone say of each difference; weigh both
    hypotheses by it; and choose the width that moves the difference to the mean of
    their mixture. The variance of the mixture is larger by the doubt which of them is
    true.
    """
    rows = peak.covariance
    means = peak.means[links.newer] - peak.means[links.older]
    variances = np.diag(rows)[links.newer] + np.diag(rows)[links.older]
    variances = variances - 2 * rows[links.newer, links.older]
    own = 1 / np.maximum(1 / variances - links.sd**-2, 1e-9)
    said = means * own / variances
    tweak, jump = own + tweak_sd**2, own + links.sd**2
    odds = np.sqrt(tweak / jump) * np.exp((1 / tweak - 1 / jump) * said**2 / 2)
    odds *= JUMP_PROBABILITY / (1 - JUMP_PROBABILITY)
    share = odds / (1 + odds)
    if_tweak, if_jump = tweak_sd**2 / tweak, links.sd**2 / jump
    kept = (1 - share) * if_tweak + share * if_jump
    doubt = share * (1 - share) * ((if_jump - if_tweak) * said) ** 2
    sd = np.sqrt(own * kept / (1 - kept))
    return Versions(links.older, links.newer, sd, doubt)


def peak_from(shapes: Sequence[GameShape], start: Floats, precision: Floats) -> Peak:
    """Go to the maximum of the posterior from `start`."""
    at = start
    slopes = slopes_at(shapes, at)
    for _ in range(MAX_NEWTON_STEPS):
        curvature = _curvature(shapes, slopes, precision)
        gradient = _gradient(shapes, slopes, at, precision)
        uphill = np.asarray(np.linalg.solve(curvature, gradient), dtype=np.float64)
        if np.abs(uphill).max(initial=0.0) < CONVERGED_STEP:
            break
        at, slopes = _step(shapes, at, uphill, precision)
    covariance = np.asarray(np.linalg.inv(curvature), dtype=np.float64)
    means = at + covariance @ skewness(shapes, at, covariance) / 2
    return Peak(at, slopes, precision, covariance, means)


def _step(
    shapes: Sequence[GameShape], at: Floats, uphill: Floats, precision: Floats
) -> tuple[Floats, Slopes]:
    """Go a whole step, or a half, a quarter, … until the new place is not lower."""
    height = _height(slopes_at(shapes, at), at, precision)
    share = 1.0
    while True:
        there = at + share * uphill
        slopes = slopes_at(shapes, there)
        if _height(slopes, there, precision) >= height - 1e-9 * abs(height):
            return there, slopes
        share /= 2


def _height(slopes: Slopes, at: Floats, precision: Floats) -> float:
    return slopes.value - float(at @ precision @ at) / 2


def _gradient(
    shapes: Sequence[GameShape], slopes: Slopes, at: Floats, precision: Floats
) -> Floats:
    total = -precision @ at
    for shape, gradients in zip(shapes, slopes.gradients, strict=True):
        total += sum_vectors(shape.columns, gradients, len(at))
    return total


def _curvature(
    shapes: Sequence[GameShape], slopes: Slopes, precision: Floats
) -> Floats:
    """Return minus the second derivatives of the logarithm of the posterior."""
    total = precision.copy()
    for shape, curvatures in zip(shapes, slopes.curvatures, strict=True):
        total += sum_matrices(shape.columns, curvatures, len(precision))
    return total


def _covariance(
    shapes: Sequence[GameShape], peak: Peak, is_first: NDArray[np.bool_], width: float
) -> Floats:
    """Return the covariance of the estimate.

    It is a sandwich, H⁻¹ (J + Λ) H⁻¹, and a little more. H is the curvature of the
    posterior, Λ the precision of the prior, and J the sum over all blocks of the
    squared score. If the model is right and games are independent, J + Λ is about H.
    Otherwise J shows how much less, or more, the games say. The last term is the
    uncertainty of the prior's width (Kass & Steffey 1989): the move of the estimate for
    a change of log width, squared, times the variance of log width.
    """
    inverse = peak.covariance
    squares = _squared_scores(shapes, peak)
    covariance = inverse @ (squares + peak.precision) @ inverse
    own = inverse[:, : len(is_first)][:, is_first] / width**2
    move = 2 * own @ peak.at[: len(is_first)][is_first]
    known = np.eye(own.shape[1]) - own[: len(is_first)][is_first]
    information = 2 * float((known * known.T).sum()) + 2 * TYPICAL_SUBMISSIONS
    return np.asarray(covariance + np.outer(move, move) / information)


def _squared_scores(shapes: Sequence[GameShape], peak: Peak) -> Floats:
    """Return the sum over all blocks of the score times its transpose.

    A fit makes the score of each block smaller than it would be without that block.
    The factor (1 - h)⁻¹ undoes it, where h is the block's part of the information on
    its own strengths; the result is close to a jackknife over blocks (Bell & McCaffrey,
    Bias reduction in standard errors for linear regression, 2002).
    """
    total = np.zeros_like(peak.covariance)
    for games in _sorted_games(shapes, peak.slopes):
        rows, begins = _runs(np.column_stack([games.blocks, games.columns]))
        columns = games.columns[rows][begins]
        gradients = np.add.reduceat(games.gradients[rows], begins)
        curvatures = np.add.reduceat(games.curvatures[rows], begins)
        inverse = peak.covariance[columns[:, :, None], columns[:, None, :]]
        without = np.eye(columns.shape[1]) - curvatures @ inverse
        scores = np.linalg.solve(without, gradients[:, :, None])[:, :, 0]
        products = scores[:, :, None] * scores[:, None, :]
        total += sum_matrices(columns, products, len(total))
    return total


class _SortedGames(NamedTuple):
    """Games with the same number of parameters, and their derivatives.

    The parameters of each game are in ascending order.
    """

    blocks: Integers
    columns: Integers
    gradients: Floats
    curvatures: Floats


def _sorted_games(
    shapes: Sequence[GameShape], slopes: Slopes
) -> Iterator[_SortedGames]:
    """Yield the games of all shapes, those with the same number of seats together."""
    width_of = [shape.columns.shape[1] for shape in shapes]
    for width in sorted(set(width_of)):
        same = [k for k, its_width in enumerate(width_of) if its_width == width]
        columns = np.concatenate([shapes[k].columns for k in same])
        order = np.argsort(columns, axis=1)
        gradients = np.concatenate([slopes.gradients[k] for k in same])
        curvatures = np.concatenate([slopes.curvatures[k] for k in same])
        games = np.arange(len(columns))[:, None]
        pairs = (games[:, :, None], order[:, :, None], order[:, None, :])
        yield _SortedGames(
            np.concatenate([shapes[k].blocks for k in same]),
            columns[games, order],
            gradients[games, order],
            curvatures[pairs],
        )


def _runs(keys: Integers) -> tuple[Integers, Integers]:
    """Return the order that puts equal rows together, and where each run begins."""
    order = np.lexsort(keys.T[::-1])
    changed = (keys[order][1:] != keys[order][:-1]).any(axis=1)
    return order, np.flatnonzero(np.concatenate([[True], changed]))
