"""What a tournament is made of, as plain values: entrants, fixtures, outcomes.

A tournament is a fold: its configuration, its entrants and the outcomes so far say
what is played next and who stands where (`plan`, `standings`). Nothing else is
remembered, so going on after a crash is the same computation as going on.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class SeededEntrant:
    """One competitor. ``seed`` 1 is the best; ``left`` gets no more fixtures."""

    key: int
    seed: int
    left: bool = False


@dataclass(frozen=True, slots=True, order=True)
class FixtureKey:
    """Where a fixture stands. It names it: the same place is the same fixture.

    ``round`` counts from 1 through the whole tournament, and nothing in a round
    depends on a result of the same round. ``pool`` is the group, from 1, or the
    bracket (MAIN, LOSERS, FINAL); ``table`` counts from 0 within the pool's round,
    ``leg`` from 0 within a best of several.
    """

    round: int
    pool: int
    table: int
    leg: int = 0


MAIN, LOSERS, FINAL = 0, -1, -2
"""The pools of an elimination; groups count from 1."""


class How(StrEnum):
    """How a fixture came to its outcome."""

    PLAYED = "played"
    BYE = "bye"
    WALKOVER = "walkover"
    DEAD = "dead"


@dataclass(frozen=True, slots=True)
class FixtureResult:
    """What a fixture gave each of its entrants, in their order.

    ``points`` count for the standings; ``scores`` are the game's own points, summed
    over the games, without those of seats that forfeited.
    """

    how: How
    points: tuple[Fraction, ...]
    scores: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class FixtureRecord:
    """Entrants who meet at a place, in the order of the seats of the first game.

    ``outcome`` is None while it is open. One entrant alone has a bye.
    """

    place: FixtureKey
    entrants: tuple[int, ...]
    outcome: FixtureResult | None = None


@dataclass(frozen=True, slots=True)
class GameResult:
    """One finished game: rank (1 is best) and score by entrant, None if it was absent.

    ``forfeits`` are the positions of entrants that lost their say.
    """

    ranks: tuple[int | None, ...]
    scores: tuple[int | None, ...]
    forfeits: frozenset[int] = frozenset()


def shares(ranks: Sequence[int], table: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """Return the points for each rank; equal ranks share theirs evenly.

    ``table`` has the points for the first, the second, … of the table.
    """
    points = []
    for rank in ranks:
        tied = ranks.count(rank)
        points.append(sum(table[rank - 1 : rank - 1 + tied], Fraction(0)) / tied)
    return tuple(points)


def by_rank(seats: int, table: Sequence[Fraction] = ()) -> tuple[Fraction, ...]:
    """Return the points by rank; without a table, the share of opponents beaten."""
    if table:
        return tuple(table[:seats])
    return tuple(Fraction(seats - rank, seats - 1) for rank in range(1, seats + 1))


def judge(
    seats: int, games: Sequence[GameResult], table: Sequence[Fraction] = ()
) -> FixtureResult:
    """Return the outcome of a match from its finished games.

    The order is by points from the games, then by the sum of their scores: the games
    of a duplicate match have the same decks, so the sum weighs the same luck. Without
    any finished game the match is dead, and its points are shared evenly.
    """
    points = by_rank(seats, table)
    if not games:
        even = sum(points, Fraction(0)) / seats
        return FixtureResult(How.DEAD, (even,) * seats, (0,) * seats)
    earned, scores = [Fraction(0)] * seats, [0] * seats
    for game in games:
        ranks = _with_absent_last(game.ranks)
        for k, share in enumerate(shares(ranks, points)):
            earned[k] += share
            scores[k] += 0 if k in game.forfeits else game.scores[k] or 0
    order = [(earned[k], scores[k]) for k in range(seats)]
    ranks = [1 + sum(other > mine for other in order) for mine in order]
    return FixtureResult(How.PLAYED, shares(ranks, points), tuple(scores))


def _with_absent_last(ranks: Sequence[int | None]) -> list[int]:
    last = 1 + sum(rank is not None for rank in ranks)
    return [last if rank is None else rank for rank in ranks]


def settled(
    fixture: FixtureRecord, left: frozenset[int], table: Sequence[Fraction] = ()
) -> FixtureResult | None:
    """Return the outcome that counts: the stored one, a bye, or a walkover.

    A fixture waits for nobody who cannot come: when at most one of its entrants is
    still there, it is decided for that one.
    """
    if fixture.outcome is not None:
        return fixture.outcome
    entrants = fixture.entrants
    if len(entrants) == 1:
        return FixtureResult(How.BYE, (by_rank(2, table)[0],), (0,))
    here = [key not in left for key in entrants]
    if sum(here) > 1:
        return None
    best, *_, worst = by_rank(len(entrants), table)
    points = tuple(best if present else worst for present in here)
    return FixtureResult(How.WALKOVER, points, (0,) * len(entrants))


def settle(
    fixtures: Sequence[FixtureRecord],
    entrants: Sequence[SeededEntrant],
    table: Sequence[Fraction] = (),
) -> dict[FixtureKey, FixtureRecord]:
    """Return the fixtures by place, each with the outcome that counts."""
    left = frozenset(entrant.key for entrant in entrants if entrant.left)
    return {
        f.place: FixtureRecord(f.place, f.entrants, settled(f, left, table))
        for f in sorted(fixtures, key=lambda f: f.place)
    }


Settled = Mapping[FixtureKey, FixtureRecord]
"""Fixtures by place, each with the outcome that counts; an open one has none."""


def is_open(settled: Settled) -> bool:
    """Tell whether anything is still to be waited for."""
    return any(fixture.outcome is None for fixture in settled.values())
