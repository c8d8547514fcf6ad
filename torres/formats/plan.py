"""The plan: which fixtures a tournament schedules next.

`plan_fixtures` is a pure function of the configuration, the entrants that started and
all fixtures with their results; the same arguments always give the same plan. Fixtures
that were scheduled stay as they are. The plan only adds new ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from torres.formats.config import Config, Format
from torres.formats.elimination import Bracket, fold_bracket
from torres.formats.groups import draw_groups, final_bracket, finalists, group_stage
from torres.formats.round_robin import (
    RoundTables,
    balanced_rounds,
    berger,
    default_rounds,
    equal_rest_rounds,
)
from torres.formats.swiss import FIRST, SECOND, SwissEntrant, pair
from torres.formats.swiss_tables import swiss_tables
from torres.formats.tiebreaks import entrant_records
from torres.formats.values import (
    MAIN,
    FixtureKey,
    FixtureRecord,
    FixtureResult,
    ResultKind,
    SeededEntrant,
    SettledFixtures,
    any_open,
    rank_points,
    settle,
)


@dataclass(frozen=True, slots=True)
class FixturePlan:
    """The fixtures to schedule now; ``over`` if there will never be another one.

    ``finalists`` are the entrants that advance from groups, with their ``final_seed``.
    They are set only by the step that decides them, and must be stored with it.
    """

    next_fixtures: tuple[FixtureRecord, ...]
    over: bool
    finalists: tuple[SeededEntrant, ...] = ()


OVER = FixturePlan((), over=True)
WAIT = FixturePlan((), over=False)


def plan_fixtures(
    config: Config, entrants: Sequence[SeededEntrant], fixtures: Sequence[FixtureRecord]
) -> FixturePlan:
    """Return what to schedule next.

    ``entrants`` are all that were present at the start, also those that have left.
    """
    settled = settle(fixtures, entrants, config.points)
    if len(entrants) <= 1:
        return OVER
    match config.format:
        case Format.ROUND_ROBIN:
            return _plan_round_robin(config, entrants, settled)
        case Format.SWISS:
            return _plan_swiss(config, entrants, settled)
        case Format.SINGLE_ELIMINATION | Format.DOUBLE_ELIMINATION as form:
            return _plan_bracket(fold_bracket(config, form, entrants, settled))
        case Format.GROUPS:
            return _plan_groups(config, entrants, settled)


def first_pool_to_wait_for(config: Config) -> int | None:
    """Return the least pool whose open fixtures keep `plan_fixtures` waiting.

    While one is open, the results of others have no consequence yet. None if each
    result of an elimination may have one.
    """
    match config.format:
        case Format.ROUND_ROBIN | Format.SWISS:
            return MAIN
        case Format.GROUPS:
            return MAIN + 1
        case Format.SINGLE_ELIMINATION | Format.DOUBLE_ELIMINATION:
            return None


def _plan_bracket(bracket: Bracket) -> FixturePlan:
    return FixturePlan(tuple(bracket.next_fixtures), over=bracket.over)


# Round robins: no fixture depends on a result, so all are scheduled at once.


def _plan_round_robin(
    config: Config, entrants: Sequence[SeededEntrant], settled: SettledFixtures
) -> FixturePlan:
    if settled:
        return WAIT if any_open(settled) else OVER
    return FixturePlan(tuple(_round_robin(config, entrants, MAIN)), over=False)


def _round_robin(
    config: Config, entrants: Sequence[SeededEntrant], pool: int
) -> list[FixtureRecord]:
    """Return the fixtures in which all entrants of a pool meet, and their rests."""
    keys = [entrant.key for entrant in sorted(entrants, key=lambda e: e.seed)]
    rounds = _round_robin_rounds(config, keys)
    meetings = [
        FixtureRecord(FixtureKey(r, pool, t), table)
        for r, tables in enumerate(rounds, 1)
        for t, table in enumerate(tables)
    ]
    return meetings + _rests(config, keys, rounds, pool)


def _rests(
    config: Config, keys: Sequence[int], rounds: Sequence[RoundTables], pool: int
) -> list[FixtureRecord]:
    """Return a bye worth the average of a table for each rest at larger tables.

    If all entrants rest equally often, rests need no compensation and there are none.
    """
    if config.seats == 2:
        return []
    if len(rounds) % equal_rest_rounds(len(keys), config.seats) == 0:
        return []
    points = rank_points(config.seats, config.points)
    average = sum(points, Fraction(0)) / config.seats
    rest = FixtureResult(ResultKind.BYE, (average,), (0,))
    fixtures = []
    for r, tables in enumerate(rounds, 1):
        playing = {key for table in tables for key in table}
        resting = sorted(set(keys) - playing)
        fixtures += [
            FixtureRecord(FixtureKey(r, pool, len(tables) + k), (key,), rest)
            for k, key in enumerate(resting)
        ]
    return fixtures


def _round_robin_rounds(config: Config, keys: Sequence[int]) -> list[RoundTables]:
    if config.seats > 2:
        rounds = config.rounds or default_rounds(len(keys), config.seats)
        return balanced_rounds(keys, config.seats, rounds)
    first_cycle = berger(keys)
    reversed_cycle: list[RoundTables] = [
        [table[::-1] for table in tables] for tables in first_cycle
    ]
    schedule: list[RoundTables] = []
    for cycle in range(config.rounds or 1):
        schedule += first_cycle if cycle % 2 == 0 else reversed_cycle
    return schedule


# Swiss: the next round is paired when no fixture of this one is open.


def _plan_swiss(
    config: Config, entrants: Sequence[SeededEntrant], settled: SettledFixtures
) -> FixturePlan:
    if any_open(settled):
        return WAIT
    round_ = max((key.round for key in settled), default=0)
    present = [entrant for entrant in entrants if not entrant.left]
    if round_ >= config.swiss_rounds(len(entrants)) or len(present) <= 1:
        return OVER
    tables = _swiss_round(config, _swiss_entrants(config, present, settled))
    fixtures = (
        FixtureRecord(FixtureKey(round_ + 1, MAIN, t), table)
        for t, table in enumerate(tables)
    )
    return FixturePlan(tuple(fixtures), over=False)


def _swiss_round(
    config: Config, entrants: Sequence[SwissEntrant]
) -> list[tuple[int, ...]]:
    """Return the tables of the next round; the bye is the last, a table of one."""
    if config.seats > 2:
        return swiss_tables(entrants, config.seats)
    pairing = pair(entrants)
    tables: list[tuple[int, ...]] = [*pairing.pairs]
    if pairing.bye is not None:
        tables.append((pairing.bye,))
    return tables


def _swiss_entrants(
    config: Config, entrants: Sequence[SeededEntrant], settled: SettledFixtures
) -> list[SwissEntrant]:
    """Return the entrants as the pairing sees them.

    A pairing counts as a meeting even if the match was not played, so that the same
    two are not paired again. A seat counts only if the match was played.
    """
    records = entrant_records(entrants, list(settled.values()))
    met: dict[int, list[int]] = {entrant.key: [] for entrant in entrants}
    seats: dict[int, list[int]] = {entrant.key: [] for entrant in entrants}
    byes = dict.fromkeys(met, 0)
    # A table of two among larger ones has seat numbers, as the others have.
    is_pairing = config.seats == 2
    for fixture in settled.values():
        is_played = fixture.result and fixture.result.how == ResultKind.PLAYED
        for seat, key in enumerate(fixture.entrants):
            if key not in met:
                continue
            met[key] += [other for other in fixture.entrants if other != key]
            if len(fixture.entrants) == 1:
                byes[key] += 1
            elif is_played:
                seats[key].append((FIRST, SECOND)[seat] if is_pairing else seat)
    return [
        SwissEntrant(
            key=entrant.key,
            seed=entrant.seed,
            score=records[entrant.key].points,
            met=tuple(met[entrant.key]),
            seats=tuple(seats[entrant.key]),
            byes=byes[entrant.key],
        )
        for entrant in entrants
    ]


# Groups: round robins, then an elimination of the entrants that advance.


def _plan_groups(
    config: Config, entrants: Sequence[SeededEntrant], settled: SettledFixtures
) -> FixturePlan:
    if not settled:
        groups = draw_groups(config, entrants)
        fixtures = [
            fixture
            for pool, members in groups.items()
            for fixture in _round_robin(config, members, pool)
        ]
        fixtures.sort(key=lambda f: f.key)
        return FixturePlan(tuple(fixtures), over=not fixtures)
    if any_open(group_stage(settled)):
        return WAIT
    plan = _plan_bracket(final_bracket(config, entrants, settled))
    if any(entrant.final_seed is not None for entrant in entrants):
        return plan
    decided = tuple(
        replace(entrant, final_seed=entrant.seed)
        for entrant in finalists(config, entrants, settled)
    )
    return replace(plan, finalists=decided)


# Corrections of results.


def may_reopen(
    config: Config,
    entrants: Sequence[SeededEntrant],
    fixtures: Sequence[FixtureRecord],
    key: FixtureKey,
) -> bool:
    """True if nothing that was scheduled depends on the result of a fixture.

    Then its result may change. In a round robin that is always so.
    """
    if config.format == Format.ROUND_ROBIN:
        return True
    if config.format == Format.SWISS:
        return all(fixture.key.round <= key.round for fixture in fixtures)
    if key.pool > MAIN:
        return all(entrant.final_seed is None for entrant in entrants)
    field = {e for f in fixtures if f.key == key for e in f.entrants}
    return not any(
        field & set(fixture.entrants)
        for fixture in fixtures
        if (fixture.key.round, fixture.key.leg) > (key.round, key.leg)
    )
