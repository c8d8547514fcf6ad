"""The values that a tournament consists of: entrants, fixtures, results.

A tournament is a fold: its configuration, its entrants and the results so far
determine which fixtures come next (`plan`) and the standings (`standings`). Nothing
else is stored, so a tournament that resumes after a crash repeats the computation that
an uninterrupted one would have done. This module knows no format. It decides what a
match is worth, and which fixtures are decided without a match: byes and walkovers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from operator import attrgetter
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class SeededEntrant:
    """One bot in the tournament.

    ``seed`` 1 is the best. An entrant that ``left`` gets no more fixtures.
    ``final_seed`` is its seed in the final after groups, once that is decided.
    """

    key: int
    seed: int
    left: bool = False
    final_seed: int | None = None


class FixtureKey(NamedTuple):
    """The coordinates of a fixture in the schedule, which identify it.

    A tuple, like `FixtureResult`, because a round robin of 200 has 19,900 of them.

    ``round`` counts from 1 through the whole tournament. Fixtures of one round do not
    depend on each other's results. ``pool`` is the number of the group, from 1, or a
    part of the bracket (MAIN, LOSERS, FINAL). ``table`` counts from 0 within the pool
    and round, ``leg`` from 0 within a best of several matches.
    """

    round: int
    pool: int
    table: int
    leg: int = 0


MAIN = 0
"""The only pool of a round robin or Swiss, and the main bracket of an elimination."""
LOSERS = -1
"""The second bracket of a double elimination."""
FINAL = -2
"""The grand final of a double elimination."""


class ResultKind(StrEnum):
    """How a fixture got its result."""

    PLAYED = "played"
    BYE = "bye"
    WALKOVER = "walkover"
    DEAD = "dead"
    """No game of the match could be finished, for a reason that was not the bots'."""


class FixtureResult(NamedTuple):
    """The result of a fixture: one value for each entrant, in the fixture's order.

    ``points`` count for the standings. ``scores`` are the sums of the game scores,
    without those of forfeited seats.
    """

    how: ResultKind
    points: tuple[Fraction, ...]
    scores: tuple[int, ...]


class FixtureRecord(NamedTuple):
    """One scheduled pairing: the entrants in the order of the first game's seats.

    ``result`` is None while the fixture is open. A fixture with one entrant is a bye.
    """

    key: FixtureKey
    entrants: tuple[int, ...]
    result: FixtureResult | None = None


SettledFixtures = Mapping[FixtureKey, FixtureRecord]
"""Fixtures by key, each with its effective result; open fixtures have none."""


@dataclass(frozen=True, slots=True)
class GameResult:
    """One finished game: rank (1 is best) and score of each entrant of the fixture.

    Rank and score are None for an entrant that did not take part. ``forfeits`` are the
    positions in the fixture of the entrants that forfeited.
    """

    ranks: tuple[int | None, ...]
    scores: tuple[int | None, ...]
    forfeits: frozenset[int] = frozenset()


def rank_points(seats: int, points: Sequence[Fraction] = ()) -> tuple[Fraction, ...]:
    """Return what the ranks 1 to ``seats`` are worth at one table.

    ``points`` are the configured values, best rank first. Without them a rank is worth
    the share of opponents beaten: 1, ½, 0 at a table of three.
    """
    if points:
        return tuple(points[:seats])
    return tuple(Fraction(seats - rank, seats - 1) for rank in range(1, seats + 1))


def share_points(
    ranks: Sequence[int], points: Sequence[Fraction]
) -> tuple[Fraction, ...]:
    """Return the points of each rank; tied ranks share theirs evenly.

    ``points`` are what the ranks 1, 2, … are worth (see `rank_points`).
    """
    shares = []
    for rank in ranks:
        tied = ranks.count(rank)
        total = sum(points[rank - 1 : rank - 1 + tied], Fraction(0))
        shares.append(total / tied)
    return tuple(shares)


def match_result(
    seats: int, games: Sequence[GameResult], points: Sequence[Fraction] = ()
) -> FixtureResult:
    """Return the result of a match from its finished games.

    1. Each game gives points by rank; an absent entrant ranks last.
    2. The entrants are ordered by the sum of these points, then by the sum of their
       scores. The sum is fair because the games of a duplicate match have the same
       decks. The score of a forfeited seat counts as 0.
    3. The rank in this order gives the points of the match.

    A match without a finished game is dead: all entrants share its points evenly.
    """
    worth = rank_points(seats, points)
    if not games:
        even = sum(worth, Fraction(0)) / seats
        return FixtureResult(ResultKind.DEAD, (even,) * seats, (0,) * seats)
    earned = [Fraction(0)] * seats
    scores = [0] * seats
    for game in games:
        shares = share_points(_with_absent_last(game.ranks), worth)
        for k, share in enumerate(shares):
            earned[k] += share
            scores[k] += 0 if k in game.forfeits else game.scores[k] or 0
    order = [(earned[k], scores[k]) for k in range(seats)]
    ranks = [1 + sum(other > own for other in order) for own in order]
    return FixtureResult(ResultKind.PLAYED, share_points(ranks, worth), tuple(scores))


def _with_absent_last(ranks: Sequence[int | None]) -> list[int]:
    last = 1 + sum(rank is not None for rank in ranks)
    return [last if rank is None else rank for rank in ranks]


def effective_result(
    fixture: FixtureRecord, left: frozenset[int], points: Sequence[Fraction] = ()
) -> FixtureResult | None:
    """Return the stored result, a bye or a walkover; None while the fixture is open.

    ``left`` are the keys of the entrants that left. A fixture in which at most one
    entrant remains does not wait: the remaining one, if any, wins by walkover.
    """
    if fixture.result is not None:
        return fixture.result
    entrants = fixture.entrants
    if len(entrants) == 1:
        return FixtureResult(ResultKind.BYE, (rank_points(2, points)[0],), (0,))
    present = [key not in left for key in entrants]
    if sum(present) > 1:
        return None
    best, *_, worst = rank_points(len(entrants), points)
    shares = tuple(best if is_present else worst for is_present in present)
    return FixtureResult(ResultKind.WALKOVER, shares, (0,) * len(entrants))


def settle(
    fixtures: Sequence[FixtureRecord],
    entrants: Sequence[SeededEntrant],
    points: Sequence[Fraction] = (),
) -> dict[FixtureKey, FixtureRecord]:
    """Return the fixtures by key, in order, each with its effective result."""
    left = frozenset(entrant.key for entrant in entrants if entrant.left)
    # Most of the thousands of fixtures of a round robin have a result already.
    return {
        fixture.key: fixture
        if fixture.result is not None
        else fixture._replace(result=effective_result(fixture, left, points))
        for fixture in sorted(fixtures, key=_in_schedule)
    }


_in_schedule = attrgetter("key")


def any_open(fixtures: SettledFixtures) -> bool:
    """True if at least one fixture still has no result."""
    return any(fixture.result is None for fixture in fixtures.values())
