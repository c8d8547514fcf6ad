"""Pairs of bots that gain together, at tables of 3 and 4, more than chance allows.

Only results against third parties count. In the games of two bots against each other,
one gains exactly as much as the other one loses, and one style may simply suit the
other. For each pair of bots there are three tests, of two numbers:

- *together*: both beat more of the third parties than the model predicts, compared with
  the tables at which the other one does not sit.
- *one helps*: one beats more of them and the other fewer. There is one test for each
  direction.

The comparison with other tables removes effects that a bot has at all tables. The
spread of all pairs removes errors of the model (`discovery.common_spread`).

Arrays and numbers only: no bots, no database.
"""

from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations

import numpy as np

from torres.rating.anomalies.discovery import common_spread, upper_tail
from torres.rating.anomalies.season_games import (
    Booleans,
    Comparisons,
    SeasonGames,
    seat_surplus,
)
from torres.rating.plackett_luce import MAX_SEATS, Floats, Integers, sum_vectors

MIN_SEATS = 3
"""With two seats there is no third party."""
MIN_GAMES = 20
"""A pair is tested when it has played this many games together, and each of the two as
many without the other."""
MIN_GAIN = 0.05
"""A smaller gain is not reported, however sure it is: in shares of third parties."""
MAX_FINDINGS = 50
TESTS_PER_PAIR = 3


class Gain(StrEnum):
    """The kinds of gain that two bots have from each other."""

    TOGETHER = "together"
    HELPS = "one helps"


@dataclass(frozen=True, slots=True)
class CollusionFinding:
    """Two bots, and what they gain at common tables.

    If the gain is one-sided, `first` helps `second`. `gains` are the shares of third
    parties that each beats more than predicted, compared with its other tables.
    `chance` is the probability of such a result of this pair by chance. `rows` are the
    games at common tables.
    """

    gain: Gain
    first: int
    second: int
    gains: tuple[float, float]
    error: float
    chance: float
    rows: Integers


@dataclass(frozen=True, slots=True)
class CollusionReport:
    """The findings, the surest first; `tested` counts the pairs that were tested."""

    findings: list[CollusionFinding]
    tested: int
    spread: float


@dataclass(frozen=True, slots=True)
class _PairRows:
    """A row for each pair of seats of a game. The bot with the lower index is first.

    `sums` and `tilts` are the sum and the difference of what the two beat more of the
    third parties than predicted; `own` is what each beats more of all opponents.
    """

    game: Integers
    pair: Integers
    size: Integers
    sums: Floats
    tilts: Floats
    variances: Floats
    own: Floats
    own_variances: Floats


@dataclass(frozen=True, slots=True)
class _Effects:
    """Half the sum and half the difference of the two gains, by pair, with errors."""

    games: Integers
    sums: Floats
    sum_errors: Floats
    tilts: Floats
    tilt_errors: Floats


def find_collusion(
    games: SeasonGames, compared: Comparisons, exempt: Booleans, rate: float
) -> CollusionReport:
    """Return the pairs of bots that gain together. `exempt` bots are never in a pair.

    1. Compute both numbers for all pairs with enough games.
    2. Take the pair with the least probability, if that is below `rate` times the
       number of findings up to it, divided by the number of tests (Benjamini & Hochberg
       from the surest test on).
    3. Leave out the games at which this pair sat together and begin again, because
       others lost these games to the two, which must not be held against the others.
    """
    search = _Search(games, compared, exempt)
    findings: list[CollusionFinding] = []
    tests = max(1, TESTS_PER_PAIR * int(search.testable.sum()))
    while len(findings) < MAX_FINDINGS:
        finding = search.surest()
        if finding is None or finding.chance > rate * (len(findings) + 1) / tests:
            break
        findings.append(finding)
        search.leave_out(finding.rows)
    return CollusionReport(findings, int(search.testable.sum()), search.spread)


class _Search:
    """All pairs of a season, without the games that are left out."""

    def __init__(
        self, games: SeasonGames, compared: Comparisons, exempt: Booleans
    ) -> None:
        self._bots = len(exempt)
        self._rows, self._keys = _pair_rows(games, compared, self._bots)
        self._first = self._keys // self._bots
        self._second = self._keys % self._bots
        self._scales = _Scales(games, self._rows)
        self._seats = _SeatTotals(games, compared, self._bots)
        self._counted = np.ones(len(games.results.blocks), dtype=bool)
        self._allowed = ~(exempt[self._first] | exempt[self._second])
        self.spread = 0.0
        self.testable = self._is_testable(self._effects())

    def leave_out(self, rows: Integers) -> None:
        self._counted[rows] = False

    def surest(self) -> CollusionFinding | None:
        """Return the pair with the least probability, if its gain is large enough."""
        effects = self._effects()
        tested = self.testable & self._is_testable(effects)
        if not tested.any():
            return None
        together = _scores(effects.sums, effects.sum_errors, tested)
        tilted = _scores(effects.tilts, effects.tilt_errors, tested)
        self.spread = together.spread
        large = tested & (effects.sums >= MIN_GAIN)
        joint = np.where(large, together.scores, -np.inf)
        large = tested & (np.abs(effects.tilts) >= MIN_GAIN)
        aside = np.where(large, np.abs(tilted.scores), -np.inf)
        gain = Gain.TOGETHER if joint.max() >= aside.max() else Gain.HELPS
        scores = joint if gain == Gain.TOGETHER else aside
        pair = int(scores.argmax())
        if not np.isfinite(scores[pair]):
            return None
        chance = float(upper_tail(scores[pair : pair + 1])[0])
        return self._finding(gain, pair, effects, chance)

    def _finding(
        self, gain: Gain, pair: int, effects: _Effects, chance: float
    ) -> CollusionFinding:
        half_sum = float(effects.sums[pair])
        half_tilt = float(effects.tilts[pair])
        bots = [int(self._first[pair]), int(self._second[pair])]
        gains = [half_sum + half_tilt, half_sum - half_tilt]
        together = gain == Gain.TOGETHER
        if not together and half_tilt > 0:  # the first one gains, so the second helps
            bots.reverse()
            gains.reverse()
        errors = effects.sum_errors if together else effects.tilt_errors
        shared = self._rows.game[self._rows.pair == pair]
        return CollusionFinding(
            gain=gain,
            first=bots[0],
            second=bots[1],
            gains=(gains[0], gains[1]),
            error=float(errors[pair]),
            chance=chance,
            rows=shared[self._counted[shared]],
        )

    def _is_testable(self, effects: _Effects) -> Booleans:
        alone = [
            self._seats.games(self._counted)[bots] - effects.games
            for bots in (self._first, self._second)
        ]
        enough = (effects.games >= MIN_GAMES) & (np.minimum(*alone) >= MIN_GAMES)
        return np.asarray(enough & self._allowed)

    def _effects(self) -> _Effects:
        """Return the gains of all pairs, compared with the tables without the other."""
        rows = self._rows
        use = self._counted[rows.game]
        pairs = len(self._keys)

        def total(values: Floats) -> Floats:
            return sum_vectors(rows.pair[use], values[use], pairs)

        games = total(np.ones(len(rows.game)))
        at_least_one = np.maximum(games, 1)
        elsewhere = [
            self._seats.elsewhere(
                bots, self._counted, games, total(own), total(variances)
            )
            for bots, own, variances in zip(
                (self._first, self._second),
                rows.own.T,
                rows.own_variances.T,
                strict=True,
            )
        ]
        means = [each.mean for each in elsewhere]
        added = sum(each.variance for each in elsewhere)

        def error(scale: Floats) -> Floats:
            variance = total(rows.variances * scale) / at_least_one**2
            return np.asarray(np.sqrt(variance + added) / 2)

        sums = total(rows.sums) / at_least_one - (means[0] + means[1])
        tilts = total(rows.tilts) / at_least_one - (means[0] - means[1])
        return _Effects(
            games.astype(np.int64),
            sums / 2,
            error(self._scales.sums),
            tilts / 2,
            error(self._scales.tilts),
        )


class _Scales:
    """By how much sums of a match vary more than independent comparisons would.

    They are seen in all pairs of games with this number of seats. The games of one
    match count as one, because they were played on the same decks.
    """

    def __init__(self, games: SeasonGames, rows: _PairRows) -> None:
        _, block = np.unique(games.results.blocks[rows.game], return_inverse=True)
        _, group = np.unique(
            rows.pair * (block.max(initial=0) + 1) + block, return_inverse=True
        )
        count = int(group.max(initial=-1)) + 1
        variances = sum_vectors(group, rows.variances, count)
        size_of = np.zeros(len(variances), dtype=np.int64)
        size_of[group] = rows.size
        sums = sum_vectors(group, rows.sums, count)
        tilts = sum_vectors(group, rows.tilts, count)
        self.sums = _scale(sums, variances, size_of)[rows.size]
        self.tilts = _scale(tilts, variances, size_of)[rows.size]


def _scale(values: Floats, variances: Floats, sizes: Integers) -> Floats:
    """Return the mean square over the mean variance, by number of seats."""
    squares = np.bincount(sizes, values**2, minlength=MAX_SEATS + 1)
    expected = np.bincount(sizes, variances, minlength=MAX_SEATS + 1)
    return np.asarray(squares / np.where(expected > 0, expected, 1.0))


@dataclass(frozen=True, slots=True)
class _Elsewhere:
    """The mean surplus of a bot at tables without the other one, and its variance."""

    mean: Floats
    variance: Floats


class _SeatTotals:
    """The surplus of each bot at all tables with third parties."""

    def __init__(
        self, games: SeasonGames, compared: Comparisons, bot_count: int
    ) -> None:
        own = seat_surplus(games, compared)
        seats = games.present & (games.sizes >= MIN_SEATS)[:, None]
        self._game, column = np.nonzero(seats)
        self._bot = games.bot_seats()[self._game, column]
        self._surplus = own.surplus[self._game, column]
        scale = float((self._surplus**2).sum())
        variances = own.variances[self._game, column]
        self.scale = scale / max(float(variances.sum()), 1e-9)
        self._variances = variances
        self._bot_count = bot_count

    def games(self, counted: Booleans) -> Integers:
        use = counted[self._game]
        return np.bincount(self._bot[use], minlength=self._bot_count)

    def elsewhere(
        self,
        bots: Integers,
        counted: Booleans,
        games: Floats,
        surplus: Floats,
        variances: Floats,
    ) -> _Elsewhere:
        """Return the means of `bots` without these sums of their common tables."""
        use = counted[self._game]
        count = self._bot_count
        total = np.bincount(self._bot[use], self._surplus[use], minlength=count)
        spread = np.bincount(self._bot[use], self._variances[use], minlength=count)
        alone = np.maximum(self.games(counted)[bots] - games, 1)
        return _Elsewhere(
            (total[bots] - surplus) / alone,
            self.scale * np.maximum(spread[bots] - variances, 0) / alone**2,
        )


@dataclass(frozen=True, slots=True)
class _Scores:
    scores: Floats
    spread: float


def _scores(effects: Floats, errors: Floats, tested: Booleans) -> _Scores:
    """Return the effects in standard errors, which include the spread of all pairs."""
    spread = common_spread(effects[tested], errors[tested])
    total = np.sqrt(errors**2 + spread**2)
    return _Scores(effects / np.where(total > 0, total, 1.0), spread)


def _pair_rows(
    games: SeasonGames, compared: Comparisons, bot_count: int
) -> tuple[_PairRows, Integers]:
    """Return a row for each pair of seats, and the key of each pair of bots.

    The key is the index of the first bot times the number of bots, plus the second.
    """
    sizes = games.sizes
    bots = games.bot_seats()
    surplus = compared.surplus.sum(axis=2)
    variances = compared.variances.sum(axis=2)
    parts = []
    for i, j in combinations(range(MAX_SEATS), 2):
        both = (bots[:, i] >= 0) & (bots[:, j] >= 0) & (bots[:, i] != bots[:, j])
        game = np.flatnonzero(both & (sizes >= MIN_SEATS))
        lower_first = bots[game, i] < bots[game, j]
        first = np.where(lower_first, i, j)
        second = np.where(lower_first, j, i)
        third = (sizes[game] - 2).astype(np.float64)
        mutual = compared.surplus[game, first, second]
        gain = (surplus[game, first] - mutual) / third
        other_gain = (surplus[game, second] + mutual) / third
        shared = compared.variances[game, first, second]
        variance = variances[game, first] + variances[game, second] - 2 * shared
        opponents = (sizes[game] - 1).astype(np.float64)[:, None]
        ends = np.stack([first, second], axis=1)
        parts.append(
            (
                game,
                bots[game, first] * bot_count + bots[game, second],
                sizes[game],
                gain + other_gain,
                gain - other_gain,
                variance / third**2,
                surplus[game[:, None], ends] / opponents,
                variances[game[:, None], ends] / opponents**2,
            )
        )
    game, key, size, *values = (
        np.concatenate(each) for each in zip(*parts, strict=True)
    )
    keys, pair = np.unique(key, return_inverse=True)
    return _PairRows(game, pair, size, *values), keys
