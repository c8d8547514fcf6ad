"""The fold: what is played next, and who stands where.

Both functions are pure. They take the configuration, the entrants who started and all
fixtures with their outcomes, and always answer the same. What was scheduled stays as
it was scheduled; only what comes next is computed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from ladder.tournaments.formats import round_robin, swiss_tables
from ladder.tournaments.formats.config import Config, Format
from ladder.tournaments.formats.elimination import Bracket, bracket
from ladder.tournaments.formats.groups import drawn, final, stage
from ladder.tournaments.formats.swiss import FIRST, SECOND, SwissEntrant, pair
from ladder.tournaments.formats.tiebreaks import records
from ladder.tournaments.formats.values import (
    FixtureKey,
    FixtureRecord,
    FixtureResult,
    How,
    SeededEntrant,
    Settled,
    by_rank,
    is_open,
    settle,
)

TWO = 2


@dataclass(frozen=True, slots=True)
class FixturePlan:
    """``due``: what to schedule now; ``over``: nothing will ever be due again."""

    due: tuple[FixtureRecord, ...]
    over: bool


def plan(
    config: Config, entrants: Sequence[SeededEntrant], fixtures: Sequence[FixtureRecord]
) -> FixturePlan:
    """Say what to schedule next. ``entrants`` are those who were there at the start."""
    settled = settle(fixtures, entrants, config.points)
    if len(entrants) <= 1:
        return FixturePlan((), over=True)
    match config.format:
        case Format.ROUND_ROBIN:
            return _round_robin(config, entrants, settled)
        case Format.SWISS:
            return _swiss(config, entrants, settled)
        case Format.SINGLE_ELIMINATION | Format.DOUBLE_ELIMINATION as form:
            return _planned(bracket(config, form, entrants, settled))
        case Format.GROUPS:
            return _groups(config, entrants, settled)


def _planned(found: Bracket) -> FixturePlan:
    return FixturePlan(tuple(found.due), over=found.over)


# Round robins: everything is scheduled at once, nothing depends on a result.


def _round_robin(
    config: Config, entrants: Sequence[SeededEntrant], settled: Settled
) -> FixturePlan:
    if settled:
        return FixturePlan((), over=not is_open(settled))
    return FixturePlan(tuple(_all_meet(config, entrants, pool=0)), over=False)


def _all_meet(
    config: Config, entrants: Sequence[SeededEntrant], pool: int
) -> list[FixtureRecord]:
    keys = [entrant.key for entrant in sorted(entrants, key=lambda e: e.seed)]
    rounds = _rounds(config, keys)
    met = [
        FixtureRecord(FixtureKey(r, pool, t), table)
        for r, each in enumerate(rounds, 1)
        for t, table in enumerate(each)
    ]
    return met + _rests(config, keys, rounds, pool)


def _rests(
    config: Config, keys: list[int], rounds: list[round_robin.Tables], pool: int
) -> list[FixtureRecord]:
    """Give who rests the average of a table, where not all rest equally often."""
    if (
        config.seats == TWO
        or len(rounds) % round_robin.fair(len(keys), config.seats) == 0
    ):
        return []
    points = by_rank(config.seats, config.points)
    rest = FixtureResult(How.BYE, (sum(points, Fraction(0)) / config.seats,), (0,))
    return [
        FixtureRecord(FixtureKey(r, pool, len(each) + k), (key,), rest)
        for r, each in enumerate(rounds, 1)
        for k, key in enumerate(
            sorted(set(keys) - {p for table in each for p in table})
        )
    ]


def _rounds(config: Config, keys: list[int]) -> list[round_robin.Tables]:
    if config.seats > TWO:
        rounds = config.rounds or round_robin.fair_rounds(len(keys), config.seats)
        return round_robin.tables(keys, config.seats, rounds)
    once = round_robin.berger(keys)
    back: list[round_robin.Tables] = [[table[::-1] for table in each] for each in once]
    cycles = config.rounds or 1
    return [each for k in range(cycles) for each in (back if k % 2 else once)]


# Swiss: the next round when nothing of this one is open any more.


def _swiss(
    config: Config, entrants: Sequence[SeededEntrant], settled: Settled
) -> FixturePlan:
    number = max((place.round for place in settled), default=0)
    if is_open(settled):
        return FixturePlan((), over=False)
    here = [entrant for entrant in entrants if not entrant.left]
    if number >= config.swiss_rounds(len(entrants)) or len(here) <= 1:
        return FixturePlan((), over=True)
    players = _players(here, settled)
    if config.seats > TWO:
        found = swiss_tables.tables(players, config.seats)
    else:
        paired = pair(players)
        found = list(paired.pairs) + ([(paired.bye,)] if paired.bye is not None else [])
    return FixturePlan(
        tuple(
            FixtureRecord(FixtureKey(number + 1, 0, t), table)
            for t, table in enumerate(found)
        ),
        over=False,
    )


def _players(entrants: Sequence[SeededEntrant], settled: Settled) -> list[SwissEntrant]:
    """Return the entrants as pairing sees them.

    Whoever was paired has met, also where the game was not played: the same two are
    not paired again. Seats count where somebody sat.
    """
    done = records(entrants, list(settled.values()))
    met: dict[int, list[int]] = {entrant.key: [] for entrant in entrants}
    seats: dict[int, list[int]] = {entrant.key: [] for entrant in entrants}
    byes = dict.fromkeys(met, 0)
    for fixture in settled.values():
        for seat, key in enumerate(fixture.entrants):
            if key not in met:
                continue
            met[key] += [other for other in fixture.entrants if other != key]
            if len(fixture.entrants) == 1:
                byes[key] += 1
            elif fixture.outcome and fixture.outcome.how == How.PLAYED:
                two = len(fixture.entrants) == TWO
                seats[key].append((FIRST, SECOND)[seat] if two else seat)
    return [
        SwissEntrant(
            e.key, e.seed, done[e.key].points, tuple(met[e.key]),
            tuple(seats[e.key]), byes[e.key],
        )
        for e in entrants
    ]  # fmt: skip


# Groups, then an elimination of those who advance.


def _groups(
    config: Config, entrants: Sequence[SeededEntrant], settled: Settled
) -> FixturePlan:
    if not settled:
        pools = drawn(config, entrants)
        due = [f for g, pool in pools.items() for f in _all_meet(config, pool, g)]
        return FixturePlan(tuple(sorted(due, key=lambda f: f.place)), over=not due)
    first = stage(settled, groups=True)
    if is_open(first):
        return FixturePlan((), over=False)
    return _planned(final(config, entrants, settled))
