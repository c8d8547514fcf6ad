"""Advancing tournaments: what the dispatcher's tick does for them.

A step reads the rows, folds them (`formats.plan`), and writes in one transaction the
results that it read and the fixtures that follow from them. A process that is killed
at any point therefore leaves rows from which the next step can go on. Steps are
idempotent, and it is harmless if two processes make them at the same time.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import ceil

import structlog
from django.db import IntegrityError, transaction
from django.db.models.functions import Now

from ladder.games import services as games
from ladder.games.models import Match
from ladder.games.services import MatchTerms
from ladder.tournaments import selectors, services
from ladder.tournaments.formats.config import Config
from ladder.tournaments.formats.plan import plan_fixtures
from ladder.tournaments.formats.values import (
    FixtureKey,
    FixtureRecord,
    FixtureResult,
    SeededEntrant,
    effective_result,
    match_result,
)
from ladder.tournaments.models import Fixture, FixtureSeat, Tournament

OPEN_GAMES_PER_SLOT = 3
"""All tournaments together keep as many games open for each slot as a ladder does.

Games are played in the order in which they were scheduled, so equal stocks give the
tournaments and a ladder equal shares when both have work.
"""
QUEUE = "tournament"

log = structlog.get_logger()


class PlanConflict(Exception):
    """Another process wrote first. The next tick reads what it wrote."""


def tick(slots: int) -> int:
    """Advance every tournament; return the number of games that were scheduled.

    ``slots`` is the number of games that all workers can play at once.
    """
    services.apply_schedule()
    tournaments = list(selectors.running())
    scheduled = 0
    for k, tournament in enumerate(tournaments):
        try:
            advance(tournament)
        except (PlanConflict, IntegrityError):
            log.info("another process was first", tournament=tournament.slug)
        free = OPEN_GAMES_PER_SLOT * slots - selectors.open_games()
        share = ceil(free / (len(tournaments) - k))
        if share > 0:
            scheduled += schedule(tournament, share)
    return scheduled


def advance(tournament: Tournament) -> bool:
    """Take in new results and write what follows; False if there was nothing to do.

    1. Reopen decided fixtures of the last round of which a game was voided.
    2. Return if the fixtures exist, no open match is completed, and nobody has left
       an open fixture.
    3. Compute the results of completed matches.
    4. Fold everything into the fixtures as they are now (see `_fold`).
    5. In one transaction write the new results and fixtures, and finish the tournament
       if it is over.

    Raises PlanConflict or IntegrityError if another process wrote at the same time.
    """
    reopened = selectors.fixtures_to_reopen(tournament).update(how="", decided_at=None)
    if reopened:
        log.info("reopened fixtures", tournament=tournament.slug, n=reopened)
    completed = list(selectors.completed_fixtures(tournament))
    is_new = not tournament.fixtures.exists()
    if not (is_new or completed or selectors.has_open_fixture_of_leaver(tournament)):
        return False
    config = selectors.config(tournament)
    entrants = selectors.seeded_entrants(tournament)
    rows = selectors.fixture_rows(tournament)
    before = [selectors.fixture_record(row) for row in rows]
    results = {
        selectors.fixture_key(row): _result_of_match(row, config) for row in completed
    }
    after, is_over = _fold(config, entrants, before, results)
    with transaction.atomic():
        _write(tournament, before, after)
        if is_over:
            services.finish(tournament)
    return True


def _result_of_match(row: Fixture, config: Config) -> FixtureResult:
    seats = list(row.seats.select_related("entrant"))
    positions = {seat.entrant.submission_id or 0: k for k, seat in enumerate(seats)}
    assert row.match is not None  # `completed_fixtures` returns only those with a match
    games = selectors.game_results(row.match, positions)
    return match_result(len(seats), games, config.points)


def _fold(
    config: Config,
    entrants: Sequence[SeededEntrant],
    before: Sequence[FixtureRecord],
    results: dict[FixtureKey, FixtureResult],
) -> tuple[list[FixtureRecord], bool]:
    """Return all fixtures as they are now, and whether the tournament is over.

    Byes and walkovers are decided at once, and so is what follows from them: the loop
    ends when the plan adds no more fixtures.
    """
    left = frozenset(entrant.key for entrant in entrants if entrant.left)
    fixtures = [replace(f, result=f.result or results.get(f.key)) for f in before]
    while True:
        fixtures = [
            replace(f, result=effective_result(f, left, config.points))
            for f in fixtures
        ]
        plan = plan_fixtures(config, entrants, fixtures)
        if not plan.next_fixtures:
            return fixtures, plan.over
        fixtures += plan.next_fixtures


def _write(
    tournament: Tournament,
    before: Sequence[FixtureRecord],
    after: Sequence[FixtureRecord],
) -> None:
    """Write new fixtures and results.

    Raises PlanConflict if the rows are no longer those in ``before``.
    """
    known = {fixture.key: fixture for fixture in before}
    rows = {selectors.fixture_key(row): row for row in tournament.fixtures.all()}
    if rows.keys() != known.keys():
        raise PlanConflict
    rows |= _add(tournament, [f for f in after if f.key not in known])
    for fixture in after:
        old = known.get(fixture.key)
        is_new = old is None or old.result is None
        if fixture.result is not None and is_new:
            _decide(rows[fixture.key], fixture.result)


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
    return {selectors.fixture_key(row): row for row in rows}


def _decide(row: Fixture, result: FixtureResult) -> None:
    """Write the result of an open fixture, and cancel its games that are scheduled.

    A walkover decides a match whose games may still be scheduled.
    """
    open_row = Fixture.objects.filter(pk=row.pk, how="")
    if not open_row.update(how=result.how, decided_at=Now()):
        raise PlanConflict
    for number, points in enumerate(result.points):
        FixtureSeat.objects.filter(fixture=row, number=number).update(
            points=str(points), score=result.scores[number]
        )
    if row.match_id is not None:
        services.cancel_scheduled_games(row.match_id, f"decided: {result.how}")


def schedule(tournament: Tournament, share: int) -> int:
    """Schedule matches of at least ``share`` games; return how many games there are.

    It stops earlier if no open fixture is without a match. All of these can be played
    in any order, because no fixture depends on another one that is open.
    """
    config = selectors.config(tournament)
    scheduled = 0
    # Each match has at least one game, so more than `share` rows are never needed.
    for row in selectors.fixtures_without_match(tournament)[:share]:
        if scheduled >= share:
            break
        scheduled += _schedule_match(tournament, row, config).planned
    return scheduled


@transaction.atomic
def _schedule_match(tournament: Tournament, row: Fixture, config: Config) -> Match:
    submissions = [seat.entrant.submission for seat in row.seats.all()]
    embargo = tournament.held_back and row.round > tournament.revealed
    match = games.schedule_match(
        Match.Kind.TOURNAMENT,
        MatchTerms(tournament.ruleset, tournament.switches, tournament.limits, embargo),
        [submission for submission in submissions if submission is not None],
        duplicate=config.duplicate,
        queue=QUEUE,
    )
    if not Fixture.objects.filter(pk=row.pk, match=None, how="").update(match=match):
        raise PlanConflict
    return match
