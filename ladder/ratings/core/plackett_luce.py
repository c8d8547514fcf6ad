"""Strengths from all games at once: the Plackett-Luce model for 2 to 4 seats.

The worth of a bot is exp(θ). The winner of a game is chosen with a probability that is
proportional to worth, then the second among the others, and so on (Plackett, The
analysis of permutations, 1975). Seats with the same rank are chosen together: a set of
t seats has the worth δ(t) times the geometric mean of its seats' worths (Davidson 1970;
Firth, Kosmidis & Turner, Davidson-Luce model for multi-item choice with ties, 2019). So
a tie tells that its seats are about equally strong, and δ(t), how frequent ties of t
seats are, is estimated with the strengths. Sizes of ties that never occur have δ = 0;
without any tie this is exactly the Plackett-Luce model.

Each θ has a normal prior with mean 0. It keeps a bot finite that won or lost all its
games. The logarithm of the posterior is concave in θ and log δ, so Newton's method
finds its only maximum.

Arrays and numbers only: no bots, no database. A submission is an index from 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

MAX_SEATS = 4
MAX_NEWTON_STEPS = 50
CONVERGED_STEP = 1e-9
"""Newton's method ends when no θ moves by more than this."""
TIE_PRIOR_PRECISION = 0.01
"""The prior of each log δ: a standard deviation of 10, which says next to nothing."""

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class SeasonResults:
    """The results of all games, a row for each game.

    `seats` has the submissions and `ranks` their ranks, by seat, in any order; rows
    with fewer than 4 seats are filled up with -1. Games with the same number in
    `blocks` were played on the same decks, so their errors are not independent.
    `weights` says how often each game counts: 1 is once.
    """

    seats: Integers
    ranks: Integers
    blocks: Integers
    weights: Floats

    @classmethod
    def of(
        cls,
        games: Sequence[Sequence[tuple[int, int]]],
        blocks: Sequence[int] | None = None,
    ) -> "SeasonResults":
        """Return the results of games given as (submission, rank) for each seat.

        By default each game is a block of its own, and counts once.
        """
        seats = np.full((len(games), MAX_SEATS), -1, dtype=np.int64)
        ranks = np.full((len(games), MAX_SEATS), -1, dtype=np.int64)
        for row, game in enumerate(games):
            for seat, (submission, rank) in enumerate(game):
                seats[row, seat] = submission
                ranks[row, seat] = rank
        numbers = np.arange(len(games)) if blocks is None else np.asarray(blocks)
        return cls(seats, ranks, numbers.astype(np.int64), np.ones(len(games)))


@dataclass(frozen=True, slots=True)
class StrengthFit:
    """The estimate: θ of each submission, its covariance, and log δ by size of tie."""

    strengths: Floats
    covariance: Floats
    ties: dict[int, float]
    steps: int

    def above(self, anchors: Sequence[int]) -> tuple[Floats, Floats]:
        """Return each θ minus the mean θ of `anchors`, and the standard errors.

        Only differences of θ are known, so a scale needs anchors. Without any, the mean
        of all submissions is the zero point.
        """
        chosen = list(anchors) or list(range(len(self.strengths)))
        shared = self.covariance[:, chosen].mean(axis=1)
        variances = np.diag(self.covariance) - 2 * shared + shared[chosen].mean()
        errors = np.sqrt(np.maximum(variances, 0.0))
        return self.strengths - self.strengths[chosen].mean(), errors


@dataclass(frozen=True, slots=True)
class _Choice:
    """The choice of the next seats of a game among those that are left.

    `design` has a row for each set that could be chosen. Its columns are the seats from
    `first` on, each with its share of the set, and then the sizes of ties. Row `chosen`
    is the set that was chosen. `squares` has the products of all pairs of columns.
    """

    first: int
    design: Floats
    squares: Floats
    chosen: int


@dataclass(frozen=True, slots=True)
class _SameShape:
    """All games with the same number of seats and the same ties.

    `columns` has the indices of the parameters of each game: its seats in order of
    rank, then the sizes of ties.
    """

    games: Integers
    columns: Integers
    choices: list[_Choice]


@dataclass(frozen=True, slots=True)
class _Slopes:
    """The log-likelihood, and its first and second derivatives for each game."""

    value: float
    gradients: list[Floats]
    curvatures: list[Floats]


def fit(results: SeasonResults, submissions: int, prior_sd: float) -> StrengthFit:
    """Return the most probable strengths of `submissions` submissions.

    1. Group the games by shape, so that each group is computed at once.
    2. Find the maximum of the posterior by Newton's method, with shorter steps if a
       whole one would go down.
    3. Compute the covariance from the scores of the blocks: the sandwich
       H⁻¹ (J + Λ) H⁻¹. H is the curvature of the posterior, J the sum of the squared
       scores of the blocks, and Λ the precision of the prior. If the model and the
       independence hold, J + Λ is about H, and this is H⁻¹; otherwise J knows it.
    """
    sizes = _tie_sizes(results)
    shapes = _group(results, submissions, sizes)
    precision = np.full(submissions + len(sizes), prior_sd**-2)
    precision[submissions:] = TIE_PRIOR_PRECISION
    search = _Search(shapes, results.weights, precision)
    strengths, steps = search.maximum()
    slopes = search.slopes(strengths)
    inverse = np.linalg.inv(search.curvature(slopes))
    scores = _block_scores(shapes, slopes, results)
    covariance = inverse @ (_sum_of_squares(*scores, len(precision))) @ inverse
    covariance += (inverse * precision) @ inverse
    return StrengthFit(
        strengths[:submissions],
        covariance[:submissions, :submissions],
        dict(zip(sizes, strengths[submissions:].tolist(), strict=True)),
        steps,
    )


class _Search:
    """Newton's method on the logarithm of the posterior."""

    def __init__(
        self, shapes: list[_SameShape], weights: Floats, precision: Floats
    ) -> None:
        self._shapes = shapes
        self._weights = [weights[shape.games] for shape in shapes]
        self._precision = precision

    def maximum(self) -> tuple[Floats, int]:
        """Return the parameters of the maximum, and the steps that it took."""
        at = np.zeros(len(self._precision))
        slopes = self.slopes(at)
        for steps in range(MAX_NEWTON_STEPS):
            uphill = np.linalg.solve(self.curvature(slopes), self._gradient(slopes, at))
            if np.abs(uphill).max(initial=0.0) < CONVERGED_STEP:
                return at, steps
            at, slopes = self._step(at, slopes, uphill)
        return at, MAX_NEWTON_STEPS

    def _step(
        self, at: Floats, slopes: _Slopes, uphill: Floats
    ) -> tuple[Floats, _Slopes]:
        """Go a whole step, or a half, a quarter, … until that is not down."""
        height = self._height(slopes, at)
        share = 1.0
        while True:
            there = at + share * uphill
            slopes = self.slopes(there)
            if self._height(slopes, there) >= height - 1e-9 * abs(height):
                return there, slopes
            share /= 2

    def _height(self, slopes: _Slopes, at: Floats) -> float:
        return slopes.value - float(self._precision @ at**2) / 2

    def _gradient(self, slopes: _Slopes, at: Floats) -> Floats:
        total = -self._precision * at
        for shape, gradients in zip(self._shapes, slopes.gradients, strict=True):
            total += np.bincount(
                shape.columns.ravel(), gradients.ravel(), minlength=len(at)
            )
        return total

    def curvature(self, slopes: _Slopes) -> Floats:
        """Return minus the second derivative of the logarithm of the posterior."""
        size = len(self._precision)
        total = np.diag(self._precision)
        for shape, blocks in zip(self._shapes, slopes.curvatures, strict=True):
            total += _sum_blocks(shape.columns, blocks, size)
        return total

    def slopes(self, at: Floats) -> _Slopes:
        value = 0.0
        gradients = []
        curvatures = []
        for shape, weights in zip(self._shapes, self._weights, strict=True):
            likelihoods, gradient, curvature = _shape_slopes(shape, at)
            value += float(weights @ likelihoods)
            gradients.append(gradient * weights[:, None])
            curvatures.append(curvature * weights[:, None, None])
        return _Slopes(value, gradients, curvatures)


def _shape_slopes(shape: _SameShape, at: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the log-likelihood of each game, its gradient and minus its Hessian."""
    values = at[shape.columns]
    games, width = values.shape
    likelihoods = np.zeros(games)
    gradient = np.zeros((games, width))
    curvature = np.zeros((games, width, width))
    for choice in shape.choices:
        used = slice(choice.first, width)
        logs = values[:, used] @ choice.design.T
        logs -= logs.max(axis=1, keepdims=True)
        shares = np.exp(logs)
        totals = shares.sum(axis=1, keepdims=True)
        shares /= totals
        likelihoods += logs[:, choice.chosen] - np.log(totals[:, 0])
        means = shares @ choice.design
        gradient[:, used] += choice.design[choice.chosen] - means
        squares = (shares @ choice.squares).reshape(games, *choice.design.shape[1:] * 2)
        curvature[:, used, used] += squares - means[:, :, None] * means[:, None, :]
    return likelihoods, gradient, curvature


def _tie_sizes(results: SeasonResults) -> list[int]:
    """Return the numbers of seats that ever shared a rank, ascending."""
    same = results.ranks[:, :, None] == results.ranks[:, None, :]
    sharing = same.sum(axis=2)[results.seats >= 0]
    return [int(size) for size in np.unique(sharing) if size > 1]


def _group(
    results: SeasonResults, submissions: int, sizes: Sequence[int]
) -> list[_SameShape]:
    """Sort the seats of each game by rank, and group the games by shape."""
    present = results.seats >= 0
    keys = np.where(present, results.ranks, np.iinfo(np.int64).max)
    order = np.argsort(keys, axis=1, kind="stable")
    seats = np.take_along_axis(results.seats, order, axis=1)
    ranks = np.take_along_axis(keys, order, axis=1)
    counts = present.sum(axis=1)
    starts = np.ones_like(seats, dtype=bool)
    starts[:, 1:] = ranks[:, 1:] != ranks[:, :-1]
    codes = counts * 2**MAX_SEATS + starts @ (1 << np.arange(MAX_SEATS))
    tie_columns = submissions + np.arange(len(sizes))
    shapes = []
    for code in np.unique(codes):
        games = np.flatnonzero(codes == code)
        count = int(counts[games[0]])
        begins = tuple(np.flatnonzero(starts[games[0], :count]).tolist())
        columns = np.concatenate(
            [seats[games, :count], np.tile(tie_columns, (len(games), 1))], axis=1
        )
        choices = _choices(count, begins, tuple(sizes))
        shapes.append(_SameShape(games, columns, choices))
    return shapes


@lru_cache
def _choices(
    count: int, begins: tuple[int, ...], sizes: tuple[int, ...]
) -> list[_Choice]:
    """Return the choices in games of `count` seats, whose ranks start at `begins`."""
    ends = (*begins[1:], count)
    return [
        _choice(first, count - first, end - first, sizes)
        for first, end in zip(begins, ends, strict=True)
        if count - first > 1
    ]


def _choice(first: int, left: int, together: int, sizes: tuple[int, ...]) -> _Choice:
    """Return the choice of the first `together` of the seats that are left."""
    sets = [
        members
        for size in (1, *sizes)
        for members in combinations(range(left), size)
    ]
    design = np.zeros((len(sets), left + len(sizes)))
    for row, members in enumerate(sets):
        design[row, list(members)] = 1 / len(members)
        if len(members) > 1:
            design[row, left + sizes.index(len(members))] = 1
    squares = (design[:, :, None] * design[:, None, :]).reshape(len(sets), -1)
    return _Choice(first, design, squares, sets.index(tuple(range(together))))


def _block_scores(
    shapes: list[_SameShape], slopes: _Slopes, results: SeasonResults
) -> tuple[Integers, Integers, Floats]:
    """Return the gradient of each block as (block, parameter, value), summed, sorted."""
    blocks = np.concatenate(
        [
            np.repeat(results.blocks[shape.games], shape.columns.shape[1])
            for shape in shapes
        ]
    )
    columns = np.concatenate([shape.columns.ravel() for shape in shapes])
    values = np.concatenate([gradient.ravel() for gradient in slopes.gradients])
    _, numbers = np.unique(blocks, return_inverse=True)
    width = int(columns.max()) + 1
    keys, places = np.unique(numbers * width + columns, return_inverse=True)
    return keys // width, keys % width, np.bincount(places, values)


def _sum_of_squares(
    blocks: Integers, columns: Integers, values: Floats, size: int
) -> Floats:
    """Return the sum over all blocks of the score times its transpose.

    The entries are sorted by block. Blocks with the same number of entries are summed
    together. A sum of B blocks is multiplied by B / (B - 1), because the scores were
    made to add up to zero.
    """
    _, begins, counts = np.unique(blocks, return_index=True, return_counts=True)
    total = np.zeros((size, size))
    for count in np.unique(counts):
        places = begins[counts == count][:, None] + np.arange(count)
        scores = values[places]
        total += _sum_blocks(columns[places], scores[:, :, None] * scores[:, None], size)
    return total * (len(begins) / max(len(begins) - 1, 1))


def _sum_blocks(columns: Integers, blocks: Floats, size: int) -> Floats:
    """Add small matrices into a large one, at the rows and columns that they name."""
    cells = columns[:, :, None] * size + columns[:, None, :]
    sums = np.bincount(cells.ravel(), blocks.ravel(), minlength=size * size)
    return sums.reshape(size, size)
