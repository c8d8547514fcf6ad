"""The Plackett-Luce model for games of 2 to 4 seats with ties: likelihood and slopes.

The worth of a submission is exp(θ). The winner of a game is chosen with a probability
that is proportional to worth, then the second among the others, and so on (Plackett,
The analysis of permutations, 1975). Seats with the same rank are chosen together: a set
of t seats has the worth δ(t) times the geometric mean of its seats' worths (Davidson
1970; Firth, Kosmidis & Turner, Davidson-Luce model for multi-item choice with ties,
2019). So a tie tells that its seats are about equally strong. The frequency of ties,
δ(t), is estimated too. Sizes of ties that never occur have δ = 0; without any tie this
is exactly the Plackett-Luce model.

A game is read from both ends, each with half the weight: the best seat is chosen first
by its worth, and the worst seat first by one over its worth. With 2 seats both are the
same. With more seats the model is right from one end only if good surprises are larger
than bad ones, and from the other end if bad ones are. The mean of both favours neither.

Everything is linear in θ and log δ inside a softmax. So the log-likelihood is concave,
and a game is a few rows of a design matrix that it shares with all games of its shape.

Arrays and numbers only: no bots, no database. A submission is an index from 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

MAX_SEATS = 4

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class SeasonResults:
    """The results of all games, a row for each game.

    `seats` has the submissions and `ranks` their ranks, by seat, in any order; rows
    with fewer than 4 seats are filled up with -1. Games with the same number in
    `blocks` were played on the same decks by the same submissions, so their errors are
    not independent. `weights` says how much each game counts; None stands for 1 each.
    """

    seats: Integers
    ranks: Integers
    blocks: Integers
    weights: Floats | None = None

    @classmethod
    def of(
        cls,
        games: Sequence[Sequence[tuple[int, int]]],
        blocks: Sequence[int] | None = None,
    ) -> "SeasonResults":
        """Return the results of games given as (submission, rank) for each seat.

        By default each game is a block of its own.
        """
        seats = np.full((len(games), MAX_SEATS), -1, dtype=np.int64)
        ranks = np.full((len(games), MAX_SEATS), -1, dtype=np.int64)
        for row, game in enumerate(games):
            for seat, (submission, rank) in enumerate(game):
                seats[row, seat] = submission
                ranks[row, seat] = rank
        numbers = range(len(games)) if blocks is None else blocks
        return cls(seats, ranks, np.array(numbers, dtype=np.int64))

    def tie_sizes(self) -> list[int]:
        """Return the numbers of seats that ever shared a rank, ascending."""
        present = self.seats >= 0
        same = self.ranks[:, :, None] == self.ranks[:, None, :]
        sharing = (same & present[:, None, :]).sum(axis=2)[present]
        return [int(size) for size in np.unique(sharing) if size > 1]


@dataclass(frozen=True, slots=True)
class Choice:
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
class GameShape:
    """All games with the same number of seats and the same ties, read from one end.

    `columns` has the indices of the parameters of each game: its seats in the order in
    which they are chosen, then the sizes of ties. `weights` has a number for each game.
    """

    columns: Integers
    blocks: Integers
    choices: list[Choice]
    weights: Floats


@dataclass(frozen=True, slots=True)
class Slopes:
    """The log-likelihood of all games, and for each shape its derivatives by game.

    `gradients` has the first derivatives, `curvatures` minus the second ones.
    """

    value: float
    gradients: list[Floats]
    curvatures: list[Floats]


def shapes_of(results: SeasonResults, submissions: int) -> list[GameShape]:
    """Group the games by shape, once for each end, each with half the weight."""
    return [
        *one_end(results, submissions, best_first=True),
        *one_end(results, submissions, best_first=False),
    ]


def one_end(
    results: SeasonResults, submissions: int, *, best_first: bool
) -> list[GameShape]:
    """Sort the seats of each game by rank, and group the games by shape."""
    sizes = results.tie_sizes()
    present = results.seats >= 0
    ranks = results.ranks if best_first else -results.ranks
    keys = np.where(present, ranks, np.iinfo(np.int64).max)
    order = np.argsort(keys, axis=1, kind="stable")
    seats = np.take_along_axis(results.seats, order, axis=1)
    keys = np.take_along_axis(keys, order, axis=1)
    counts = present.sum(axis=1)
    starts = np.ones_like(seats, dtype=bool)
    starts[:, 1:] = keys[:, 1:] != keys[:, :-1]
    codes = counts * 2**MAX_SEATS + starts @ (1 << np.arange(MAX_SEATS))
    tie_columns = submissions + np.arange(len(sizes))
    weights = np.ones(len(seats)) if results.weights is None else results.weights
    shapes = []
    for code in np.unique(codes):
        games = np.flatnonzero(codes == code)
        count = int(counts[games[0]])
        begins = tuple(np.flatnonzero(starts[games[0], :count]).tolist())
        own_ties = np.tile(tie_columns, (len(games), 1))
        columns = np.concatenate([seats[games, :count], own_ties], axis=1)
        choices = _choices(count, begins, tuple(sizes), 1 if best_first else -1)
        halves = weights[games] / 2
        shapes.append(GameShape(columns, results.blocks[games], choices, halves))
    return shapes


@lru_cache
def _choices(
    count: int, begins: tuple[int, ...], sizes: tuple[int, ...], sign: int
) -> list[Choice]:
    """Return the choices in games of `count` seats, whose ranks start at `begins`."""
    ends = (*begins[1:], count)
    return [
        _choice(first, count - first, end - first, sizes, sign)
        for first, end in zip(begins, ends, strict=True)
        if count - first > 1
    ]


def _choice(
    first: int, left: int, together: int, sizes: tuple[int, ...], sign: int
) -> Choice:
    """Return the choice of the first `together` of the seats that are left.

    The sign of their worth is -1 if the worst seats are chosen first.
    """
    sets = [
        members for size in (1, *sizes) for members in combinations(range(left), size)
    ]
    design = np.zeros((len(sets), left + len(sizes)))
    for row, members in enumerate(sets):
        design[row, list(members)] = sign / len(members)
        if len(members) > 1:
            design[row, left + sizes.index(len(members))] = 1
    squares = (design[:, :, None] * design[:, None, :]).reshape(len(sets), -1)
    return Choice(first, design, squares, sets.index(tuple(range(together))))


def slopes_at(shapes: Sequence[GameShape], at: Floats) -> Slopes:
    """Return the log-likelihood and its derivatives at the parameters `at`."""
    value = 0.0
    gradients = []
    curvatures = []
    for shape in shapes:
        likelihoods, gradient, curvature = _shape_slopes(shape, at)
        value += float(likelihoods @ shape.weights)
        gradients.append(gradient * shape.weights[:, None])
        curvatures.append(curvature * shape.weights[:, None, None])
    return Slopes(value, gradients, curvatures)


def _shape_slopes(shape: GameShape, at: Floats) -> tuple[Floats, Floats, Floats]:
    values = at[shape.columns]
    games, width = values.shape
    likelihoods = np.zeros(games)
    gradient = np.zeros((games, width))
    curvature = np.zeros((games, width, width))
    for choice in shape.choices:
        used = slice(choice.first, width)
        logs, shares = _shares(choice, values[:, used])
        likelihoods += logs[:, choice.chosen]
        means = shares @ choice.design
        gradient[:, used] += choice.design[choice.chosen] - means
        products = means[:, :, None] * means[:, None, :]
        squares = (shares @ choice.squares).reshape(products.shape)
        curvature[:, used, used] += squares - products
    return likelihoods, gradient, curvature


def _shares(choice: Choice, values: Floats) -> tuple[Floats, Floats]:
    """Return the log-probability and the probability of each set, by game."""
    logs = values @ choice.design.T
    logs -= logs.max(axis=1, keepdims=True)
    logs -= np.log(np.exp(logs).sum(axis=1, keepdims=True))
    return logs, np.exp(logs)


def skewness(shapes: Sequence[GameShape], at: Floats, covariance: Floats) -> Floats:
    """Return the third derivatives of the log-likelihood, contracted with a covariance.

    Entry k is the sum over i and j of ∂³/∂k∂i∂j times covariance[i, j]. The third
    derivative of a softmax is minus its third central moment, so this is minus the
    covariance of each column with the squared distance of a set from the mean.
    """
    total = np.zeros(len(at))
    for shape in shapes:
        values = at[shape.columns]
        own = covariance[shape.columns[:, :, None], shape.columns[:, None, :]]
        lean = np.zeros_like(values)
        for choice in shape.choices:
            _, shares = _shares(choice, values[:, choice.first :])
            means = shares @ choice.design
            inner = own[:, choice.first :, choice.first :]
            distances = inner.reshape(len(values), -1) @ choice.squares.T
            distances -= 2 * np.einsum("gij,gj->gi", inner, means) @ choice.design.T
            weighted = shares * distances
            lean[:, choice.first :] += (
                weighted.sum(axis=1, keepdims=True) * means - weighted @ choice.design
            )
        total += sum_vectors(shape.columns, lean * shape.weights[:, None], len(at))
    return total


def sum_vectors(columns: Integers, vectors: Floats, size: int) -> Floats:
    """Add short vectors into a long one, at the places that `columns` names."""
    sums = np.bincount(columns.ravel(), vectors.ravel(), minlength=size)
    return sums.astype(np.float64, copy=False)


def sum_matrices(columns: Integers, matrices: Floats, size: int) -> Floats:
    """Add small matrices into a large one, at the rows and columns that are named."""
    cells = columns[:, :, None] * size + columns[:, None, :]
    sums = np.bincount(cells.ravel(), matrices.ravel(), minlength=size * size)
    return sums.astype(np.float64, copy=False).reshape(size, size)
