"""Submissions that seem to lose on purpose.

The files of a submission never change, so its strength should not either. There are
three tests, all with one rate of false discoveries:

- *rise*: the results of one submission become better at some point;
- *finals*: they become better when the finals begin, in which no code changes;
- *dip*: a submission is far weaker than an earlier and a later one of the same bot.

Arrays and numbers only: no bots, no database.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from torres.rating.anomalies.discovery import discoveries, upper_tail
from torres.rating.anomalies.season_games import (
    Booleans,
    Comparisons,
    SeasonGames,
    seat_surplus,
)
from torres.rating.plackett_luce import Floats, Integers
from torres.rating.strengths import StrengthFit

MIN_GAMES = 40
"""A submission is tested for a rise when it has played this many games."""
MIN_SIDE_GAMES = 10
"""A rise is reported only with this many games before and after it."""
MIN_RISE = 0.10
"""A smaller rise is not reported: in shares of opponents beaten."""
MIN_DIP_GAMES = 20
DIP_MARGIN = 1.0
"""A new version that is weaker by this many logits is an ordinary mistake.

One logit is 73 wins in 100 games."""


class SandbaggingSign(StrEnum):
    """The reason to suspect a submission."""

    RISE = "rise"
    FINALS = "finals"
    DIP = "dip"


@dataclass(frozen=True, slots=True)
class SandbaggingFinding:
    """A submission whose results are worse than itself or its neighbours predict.

    `before` and `after` are what it beat more of its opponents than predicted, before
    and after the game `turn` (a row; -1 for a dip). For a dip they are strengths in
    logits, its own and that of the weaker one of `others`, an earlier and a later
    submission. `rows` are the games of the weak time.
    """

    sign: SandbaggingSign
    submission: int
    before: float
    after: float
    chance: float
    rows: Integers
    turn: int = -1
    others: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class SandbaggingReport:
    """The findings, the surest first, at most one of a submission."""

    findings: list[SandbaggingFinding]
    tests: int


def find_sandbagging(
    games: SeasonGames,
    compared: Comparisons,
    fit: StrengthFit,
    *,
    exempt: Booleans,
    finals_from: int | None,
    rate: float,
) -> SandbaggingReport:
    """Return the submissions of bots that are not `exempt` and seem to hold back.

    `finals_from` is the first row of the finals. The numbers of submissions must be in
    the order in which the uploads of each bot came.
    """
    history = _History(games, compared)
    tests = [
        *_rises(history, games, exempt, finals_from),
        *_dips(history, games, fit, exempt),
    ]
    chances = np.array([test.chance for test in tests])
    found: dict[int, SandbaggingFinding] = {}
    for index in discoveries(chances, rate).tolist():
        test = tests[index]
        if test.sign == SandbaggingSign.DIP or test.after - test.before >= MIN_RISE:
            found.setdefault(test.submission, test)
    return SandbaggingReport(list(found.values()), len(tests))


class _History:
    """The seats of each submission, in the order of the games."""

    def __init__(self, games: SeasonGames, compared: Comparisons) -> None:
        row, column = np.nonzero(games.present)
        submission = games.results.seats[row, column]
        order = np.argsort(submission, kind="stable")
        self._rows = row[order]
        self._surplus = seat_surplus(games, compared).surplus[row, column][order]
        counts = np.bincount(submission, minlength=len(games.bots))
        self._ends = np.cumsum(counts)
        self.counts = counts

    def rows(self, submission: int) -> Integers:
        return self._rows[self._part(submission)]

    def surplus(self, submission: int) -> Floats:
        return self._surplus[self._part(submission)]

    def _part(self, submission: int) -> slice:
        end = int(self._ends[submission])
        return slice(end - int(self.counts[submission]), end)


def _rises(
    history: _History, games: SeasonGames, exempt: Booleans, finals_from: int | None
) -> Iterator[SandbaggingFinding]:
    """Yield the tests of all submissions with enough games."""
    for submission in np.flatnonzero(history.counts >= MIN_GAMES).tolist():
        if exempt[games.bots[submission]]:
            continue
        rows = history.rows(submission)
        surplus = history.surplus(submission)
        steps = _per_match(games.results.blocks[rows], surplus)
        yield _rise(submission, rows, steps)
        if finals_from is not None:
            split = int((rows < finals_from).sum())
            if MIN_SIDE_GAMES <= split <= len(rows) - MIN_SIDE_GAMES:
                yield _finals_rise(submission, rows, steps, split)


def _per_match(blocks: Integers, surplus: Floats) -> Floats:
    """Spread the surplus of a match evenly over its games, which share their decks.

    The sums and the means stay, and the errors become those of whole matches.
    """
    _, match, counts = np.unique(blocks, return_inverse=True, return_counts=True)
    return np.asarray(np.bincount(match, surplus)[match] / counts[match])


def _rise(submission: int, rows: Integers, steps: Floats) -> SandbaggingFinding:
    """Look for the point after which the results are better.

    If nothing changes, the sums of the distances from the mean are a Brownian bridge.
    Its greatest depth exceeds x standard deviations with the probability exp(-2x²).
    """
    distances = steps - steps.mean()
    spread = float(_block_deviation(steps)) * math.sqrt(len(steps))
    sums = np.cumsum(distances)[MIN_SIDE_GAMES - 1 : -MIN_SIDE_GAMES]
    split = int(sums.argmin()) + MIN_SIDE_GAMES
    depth = max(0.0, -float(sums.min()) / spread) if spread > 0 else 0.0
    return SandbaggingFinding(
        SandbaggingSign.RISE,
        submission,
        float(steps[:split].mean()),
        float(steps[split:].mean()),
        math.exp(-2 * depth**2),
        rows[:split],
        int(rows[split]),
    )


def _finals_rise(
    submission: int, rows: Integers, steps: Floats, split: int
) -> SandbaggingFinding:
    before = float(steps[:split].mean())
    after = float(steps[split:].mean())
    error = float(_block_deviation(steps)) * math.sqrt(
        1 / split + 1 / (len(steps) - split)
    )
    score = (after - before) / error if error > 0 else 0.0
    chance = float(upper_tail(np.array([score]))[0])
    return SandbaggingFinding(
        SandbaggingSign.FINALS,
        submission,
        before,
        after,
        chance,
        rows[:split],
        int(rows[split]),
    )


def _block_deviation(steps: Floats) -> float:
    """Return the standard deviation of a game, as if games were independent.

    The games of a match have equal steps, so a run of n equal steps counts n times.
    """
    changed = np.flatnonzero(np.diff(steps)) + 1
    ends = np.concatenate([[0], changed, [len(steps)]])
    lengths = np.diff(ends)
    distances = (steps[ends[:-1]] - steps.mean()) * lengths
    return float(np.sqrt((distances**2).sum() / len(steps)))


def _dips(
    history: _History, games: SeasonGames, fit: StrengthFit, exempt: Booleans
) -> Iterator[SandbaggingFinding]:
    """Yield a test for each submission between two of the same bot."""
    played = np.flatnonzero(history.counts >= MIN_DIP_GAMES)
    by_bot: dict[int, list[int]] = {}
    for submission in played.tolist():
        if not exempt[games.bots[submission]]:
            by_bot.setdefault(int(games.bots[submission]), []).append(submission)
    for submissions in by_bot.values():
        for place in range(1, len(submissions) - 1):
            yield _dip(history, fit, submissions, place)


def _dip(
    history: _History, fit: StrengthFit, submissions: list[int], place: int
) -> SandbaggingFinding:
    """Compare a submission with the strongest earlier and the strongest later one.

    Both have to be stronger, so the larger of the two probabilities counts. Each is
    multiplied by the number of submissions from which the strongest was chosen.
    """
    own = submissions[place]
    sides = (submissions[:place], submissions[place + 1 :])
    best = [max(side, key=lambda each: float(fit.strengths[each])) for side in sides]
    chances = [
        min(1.0, len(side) * _chance_of_dip(fit, own, other))
        for side, other in zip(sides, best, strict=True)
    ]
    return SandbaggingFinding(
        SandbaggingSign.DIP,
        own,
        float(fit.strengths[own]),
        min(float(fit.strengths[other]) for other in best),
        max(chances),
        history.rows(own),
        others=tuple(best),
    )


def _chance_of_dip(fit: StrengthFit, own: int, other: int) -> float:
    difference = float(fit.strengths[other] - fit.strengths[own]) - DIP_MARGIN
    covariance = fit.covariance
    variance = covariance[own, own] + covariance[other, other]
    variance -= 2 * covariance[own, other]
    error = math.sqrt(max(float(variance), 1e-12))
    return float(upper_tail(np.array([difference / error]))[0])
