"""Cross tables: the points of each pairing, by row and column.

There is one table for a round robin or a Swiss, and one for each group. Rows and
columns are in the order of the standings. Large tables are cut, because a table of 200
entrants would have 40,000 cells.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations

from django.db.models import Count

from ladder.tournaments.models import Entrant, FixtureSeat, Tournament
from torres.formats.standings import Standings
from torres.formats.values import FixtureKey, FixtureRecord, ResultKind

MAX_ROWS = 30
"""A table has the entrants of the first ranks only, if there are more of them."""
MAX_CELLS = 1_000
"""The cells of all tables of a tournament together."""
MAX_MEETINGS = 4
"""A cell with more matches has their sum."""


@dataclass(frozen=True, slots=True)
class VisibleMeeting:
    """The points of the entrant of a row in one match against that of a column.

    Points are as in "1/2". Without a ``match`` the ``note`` says where they are from:
    "by walkover", or "in 12 matches" if these are too many to be listed.
    """

    points: str
    note: str
    match: int | None


@dataclass(frozen=True, slots=True)
class CrossRow:
    """An entrant, and its meetings with each entrant of the table, itself included."""

    bot: str
    name: str
    points: float
    withdrawn: bool
    cells: list[list[VisibleMeeting]]


@dataclass(frozen=True, slots=True)
class CrossTable:
    """One table. ``group`` is its number, 0 if there are no groups.

    ``entrants`` counts those of the whole table, of which the best have rows.
    """

    group: int
    entrants: int
    rows: list[CrossRow]


@dataclass(frozen=True, slots=True)
class CrossTables:
    """The tables of a tournament. ``left_out`` counts those that are too many."""

    tables: list[CrossTable]
    left_out: int


def cross_tables(
    tournament: Tournament,
    order: Standings,
    entrants: Mapping[int, Entrant],
    last_round: int | None,
) -> CrossTables:
    """Return the tables of all results up to ``last_round``; None is no limit.

    ``entrants`` are the rows of the tournament by primary key. There is no table before
    the first result, and none in an elimination.
    """
    shown: dict[int, list[int]] = {}
    left_out = 0
    cells = 0
    for pool, table in order.tables.items():
        keys = [line.key for line in table.lines[:MAX_ROWS]]
        cells += len(keys) ** 2
        if cells > MAX_CELLS:
            left_out += 1
        else:
            shown[pool] = keys
    fixtures = _fixtures(order, shown, last_round)
    if not fixtures:
        return CrossTables([], 0)
    matches = _matches(tournament, [key for keys in shown.values() for key in keys])
    meetings = _meetings(fixtures, matches)
    points = {line.key: line.points for t in order.tables.values() for line in t.lines}
    tables = [
        CrossTable(
            group=pool,
            entrants=len(order.tables[pool].lines),
            rows=[
                CrossRow(
                    bot=entrants[key].bot.slug,
                    name=entrants[key].bot.name,
                    points=float(points[key]),
                    withdrawn=entrants[key].withdrawn_at is not None,
                    cells=[meetings.get((key, other), []) for other in keys],
                )
                for key in keys
            ],
        )
        for pool, keys in shown.items()
    ]
    return CrossTables(tables, left_out)


def _fixtures(
    order: Standings, shown: Mapping[int, Sequence[int]], last_round: int | None
) -> list[FixtureRecord]:
    """Return the decided fixtures at which two entrants with rows have met."""
    members = {pool: frozenset(keys) for pool, keys in shown.items()}
    everybody = frozenset().union(*members.values())
    return [
        fixture
        for fixture in order.settled.values()
        if not everybody.isdisjoint(fixture.entrants)  # most are; the quickest test
        and fixture.result is not None
        and (last_round is None or fixture.key.round <= last_round)
        and len(members.get(fixture.key.pool, set()).intersection(fixture.entrants)) > 1
    ]


def _matches(tournament: Tournament, keys: Sequence[int]) -> dict[FixtureKey, int]:
    """Return the visible matches of the fixtures at which two of ``keys`` sit.

    Of the 19,900 fixtures of a round robin of 200 these are 435.
    """
    seats = FixtureSeat.objects.filter(entrant__in=keys).order_by().values("fixture")
    met = seats.annotate(shown=Count("pk")).filter(shown__gt=1).values("fixture")
    rows = tournament.fixtures.filter(
        pk__in=met, match__isnull=False, match__embargo=False
    )
    values = rows.order_by().values_list("round", "pool", "table", "leg", "match")
    return {FixtureKey(*key): match for *key, match in values}


def _meetings(
    fixtures: Sequence[FixtureRecord], matches: Mapping[FixtureKey, int]
) -> dict[tuple[int, int], list[VisibleMeeting]]:
    """Return the points of each one against each other, in the order of the rounds."""
    met: dict[tuple[int, int], list[tuple[Fraction, FixtureRecord]]] = {}
    for fixture in fixtures:
        points = fixture.result.points if fixture.result else ()
        both = zip(fixture.entrants, points, strict=True)
        for (one, share), (other, _) in permutations(both, 2):
            met.setdefault((one, other), []).append((share, fixture))
    return {
        pair: [_meeting(share, fixture, matches) for share, fixture in cell]
        if len(cell) <= MAX_MEETINGS
        else [_sum([share for share, _ in cell])]
        for pair, cell in met.items()
    }


def _meeting(
    points: Fraction, fixture: FixtureRecord, matches: Mapping[FixtureKey, int]
) -> VisibleMeeting:
    how = fixture.result.how if fixture.result else ResultKind.DEAD
    if how == ResultKind.PLAYED:
        return VisibleMeeting(str(points), "", matches.get(fixture.key))
    return VisibleMeeting(str(points), f"by {how}", None)


def _sum(shares: Sequence[Fraction]) -> VisibleMeeting:
    return VisibleMeeting(
        str(sum(shares, Fraction(0))), f"in {len(shares)} matches", None
    )
