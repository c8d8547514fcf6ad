"""Advancing tournaments: the steps of the dispatcher's tick.

A step reads the rows, folds them (`formats.plan`), and writes in one transaction the
results that it read and the fixtures that follow from them. A process that is killed
at any point therefore leaves rows from which the next step can go on. Steps are
idempotent, and it is harmless if two processes make them at the same time.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import ceil

from django.db import transaction

from engine.rulesets import MIN_SEATS
from ladder.games import services as games
from ladder.games.models import Match
from ladder.games.services import MatchTerms, PlannedMatch
from ladder.service.containment import Containment, Unit, UnitKind
from ladder.tournaments import corrections, facts, selectors, services
from ladder.tournaments.description import check
from ladder.tournaments.models import (
    Entrant,
    Fixture,
    FixtureSeat,
    Tournament,
    TournamentStatus,
)
from torres.formats.config import Config
from torres.formats.plan import first_pool_to_wait_for, plan_fixtures
from torres.formats.values import (
    FixtureKey,
    FixtureRecord,
    FixtureResult,
    SeededEntrant,
    effective_result,
)

OPEN_GAMES_PER_SLOT = 3
"""All tournaments together keep as many games open for each slot as a ladder does.

Games are played in the order in which they were scheduled, so equal stocks give the
tournaments and a ladder equal shares when both have work.
"""
QUEUE = "tournament"


def tick(slots: int, units: Containment) -> int:
    """Advance every tournament; return the number of games that were scheduled.

    ``slots`` is the number of games that all workers can play at once. Each tournament
    is a unit of ``units``: an error stops this tournament only.
    """
    for tournament in services.scheduled_now():
        units.run(
            unit_of(tournament), partial(services.apply_schedule, tournament), None
        )
    need_a_look = set(selectors.needing_a_look().values_list("pk", flat=True))
    tournaments = list(selectors.running())
    scheduled = 0
    for k, tournament in enumerate(tournaments):
        share = partial(_share, slots, len(tournaments) - k)
        step = partial(_step, tournament, share, look=tournament.pk in need_a_look)
        scheduled += units.run(unit_of(tournament), step, 0)
    return scheduled


def unit_of(tournament: Tournament) -> Unit:
    return Unit(UnitKind.TOURNAMENT, tournament.slug)


def _share(slots: int, tournaments: int) -> int:
    """Return how many games the next one of some tournaments may schedule."""
    free = OPEN_GAMES_PER_SLOT * slots - selectors.open_games()
    return ceil(free / tournaments)


def _step(tournament: Tournament, share: Callable[[], int], *, look: bool) -> int:
    """Advance one tournament; return the number of games that were scheduled."""
    if look:
        corrections.repair(tournament)
        advance(tournament)
    else:
        selectors.config(tournament)  # a wrong row stops it, even if it only waits
    games = share()
    return schedule(tournament, games) if games > 0 else 0


def advance(tournament: Tournament) -> bool:
    """Take in new results and write what follows; False if there was nothing to do.

    Results that the plan does not wait for alone are written without the fold over all
    fixtures, of which a round robin of 200 has 19,900. Raises PlanConflict or
    IntegrityError if another process wrote at the same time.
    """
    config = selectors.config(tournament)
    results = selectors.new_results(tournament, config)
    others = tournament.fixtures.filter(how="").exclude(pk__in=results)
    leavers = selectors.has_open_fixture_of_leaver(tournament)
    if not (results or leavers) and others.exists():
        return False
    least = first_pool_to_wait_for(config)
    waits = least is not None and others.filter(pool__gte=least).exists()
    if leavers or not waits:
        _write_plan(tournament, config, results)
        return True
    with transaction.atomic():
        _lock(tournament)
        _decide(tournament, Fixture.objects.in_bulk(list(results)), results)
    return True


def _write_plan(
    tournament: Tournament, config: Config, results: Mapping[int, FixtureResult]
) -> None:
    """Fold the whole tournament, and write new fixtures and results in one step."""
    records = selectors.fixture_records(tournament)
    entrants = selectors.seeded_entrants(tournament)
    pk_of = {record.key: pk for pk, record in records.items()}
    before = [
        record._replace(result=record.result or results.get(pk))
        for pk, record in records.items()
    ]
    fold = _fold(config, entrants, before)
    with transaction.atomic():
        _lock(tournament)
        if tournament.fixtures.count() != len(records):
            raise services.PlanConflict("fixtures were added")
        added = _add(tournament, [f for f in fold.fixtures if f.key not in pk_of])
        pk_of |= {key: row.pk for key, row in added.items()}
        open_pks = [pk for pk, record in records.items() if record.result is None]
        rows = Fixture.objects.in_bulk(open_pks)
        rows |= {row.pk: row for row in added.values()}
        decided = {
            pk_of[fixture.key]: fixture.result
            for fixture in fold.fixtures
            if fixture.result is not None and pk_of[fixture.key] in rows
        }
        rounds_before = {record.key.round for record in records.values()}
        began = {key.round for key in added} - rounds_before
        _decide(tournament, rows, decided, began)
        _store_finalists(fold.finalists)
        if fold.over:
            services.finish(tournament)


def _decide(
    tournament: Tournament,
    rows: Mapping[int, Fixture],
    results: Mapping[int, FixtureResult],
    began: Collection[int] = (),
) -> None:
    """Write results of fixtures by primary key, and tell which rounds have begun."""
    for pk, result in results.items():
        services.decide(rows[pk], result)
    facts.record_step(tournament, [rows[pk] for pk in results], began)


def _lock(tournament: Tournament) -> None:
    """Make sure that the tournament is running until the transaction ends.

    Raises PlanConflict if somebody has cancelled or paused it meanwhile.
    """
    rows = Tournament.objects.select_for_update().filter(
        pk=tournament.pk, status=TournamentStatus.RUNNING, paused_at=None
    )
    if not rows.exists():
        raise services.PlanConflict(f"{tournament.slug} is not running any more")


def _store_finalists(finalists: Sequence[SeededEntrant]) -> None:
    for entrant in finalists:
        row = Entrant.objects.filter(pk=entrant.key, final_seed=None)
        if not row.update(final_seed=entrant.final_seed):
            raise services.PlanConflict("the finalists were decided")


@dataclass(frozen=True, slots=True)
class _FoldedFixtures:
    """All fixtures as they are after a step, and what else the step decided."""

    fixtures: list[FixtureRecord]
    finalists: list[SeededEntrant]
    over: bool


def _fold(
    config: Config, entrants: Sequence[SeededEntrant], fixtures: list[FixtureRecord]
) -> _FoldedFixtures:
    """Decide byes and walkovers, and plan until the plan adds no more fixtures."""
    left = frozenset(entrant.key for entrant in entrants if entrant.left)
    finalists: list[SeededEntrant] = []
    while True:
        fixtures = [
            f._replace(result=effective_result(f, left, config.points))
            for f in fixtures
        ]
        plan = plan_fixtures(config, entrants, fixtures)
        if plan.finalists:
            finalists += plan.finalists
            decided = {entrant.key: entrant for entrant in plan.finalists}
            entrants = [decided.get(entrant.key, entrant) for entrant in entrants]
        if not plan.next_fixtures:
            return _FoldedFixtures(fixtures, finalists, plan.over)
        fixtures += plan.next_fixtures


def _add(
    tournament: Tournament, fixtures: Sequence[FixtureRecord]
) -> dict[FixtureKey, Fixture]:
    """Add fixtures in two statements, because a round robin has thousands."""
    rows = Fixture.objects.bulk_create(
        Fixture(
            tournament=tournament,
            round=fixture.key.round,
            pool=fixture.key.pool,
            table=fixture.key.table,
            leg=fixture.key.leg,
        )
        for fixture in fixtures
    )
    FixtureSeat.objects.bulk_create(
        FixtureSeat(fixture=row, number=number, entrant_id=entrant)
        for row, fixture in zip(rows, fixtures, strict=True)
        for number, entrant in enumerate(fixture.entrants)
    )
    return {fixture.key: row for row, fixture in zip(rows, fixtures, strict=True)}


def schedule(tournament: Tournament, share: int) -> int:
    """Schedule matches of at least ``share`` games; return how many games there are.

    Matches with shared deals are scheduled by whole rounds. It stops earlier if no open
    fixture is without a match. All of these can be played
    in any order, because no fixture depends on another one that is open. Raises
    BadTournament, because with wrong rules or limits each game would be a dead one.
    """
    # Each match has at least one game, so more than `share` rows are never needed.
    rows = list(selectors.fixtures_without_match(tournament)[:share])
    if not rows:
        return 0
    check(tournament.description().without_dates())
    config = selectors.config(tournament)
    scheduled = 0
    done: set[int] = set()
    for row in rows:
        if scheduled >= share:
            break
        if row.pk not in done:
            together = [row]
            if config.shared_deals:  # all at once, before anybody sees their deal
                together = list(selectors.waiting_beside(row))
            scheduled += _schedule_matches(tournament, together, config)
            done.update(fixture.pk for fixture in together)
    return scheduled


@transaction.atomic
def _schedule_matches(
    tournament: Tournament, rows: Sequence[Fixture], config: Config
) -> int:
    """Schedule the matches of some fixtures; return how many games there are."""
    _lock(tournament)
    matches = games.schedule_matches(
        Match.Kind.TOURNAMENT,
        [_planned_match(tournament, row) for row in rows],
        duplicate=config.duplicate,
        shared_deals=config.shared_deals,
        queue=QUEUE,
    )
    open_rows = Fixture.objects.filter(match=None, how="")
    for row, match in zip(rows, matches, strict=True):
        if not open_rows.filter(pk=row.pk).update(match=match):
            raise services.PlanConflict("the match was scheduled")
    return sum(match.planned for match in matches)


def _planned_match(tournament: Tournament, row: Fixture) -> PlannedMatch:
    """Return the match of a fixture; a larger table is played without a banned bot.

    Raises PlanConflict if fewer bots than a game needs may play, because some were
    banned after `advance` has looked. The next tick withdraws them.
    """
    submissions = [
        seat.entrant.submission
        for seat in row.seats.all()
        if not seat.entrant.bot.is_gone and seat.entrant.submission
    ]
    if len(submissions) < MIN_SEATS:
        raise services.PlanConflict("a bot of the fixture was banned")
    embargo = tournament.held_back and row.round > tournament.revealed
    return PlannedMatch(
        MatchTerms(
            tournament.ruleset,
            tournament.switches,
            tournament.limits,
            embargo,
            payer=tournament.organiser_id,
        ),
        submissions,
    )
