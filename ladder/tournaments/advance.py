"""Carrying a tournament on: what the dispatcher's tick does, as often as it likes.

A step reads the rows, folds them, and writes what came out in one transaction: the
outcomes that were read and the fixtures that follow from them, or neither. So a
process that is killed anywhere leaves a tournament from which the next step goes on.
"""

from collections.abc import Sequence
from dataclasses import replace

import structlog
from django.db import IntegrityError, transaction
from django.db.models.functions import Now

from ladder.games import services as games
from ladder.games.models import Match
from ladder.games.services import MatchTerms
from ladder.tournaments import selectors, services
from ladder.tournaments.formats import values
from ladder.tournaments.formats.config import Config
from ladder.tournaments.formats.plan import plan
from ladder.tournaments.formats.values import FixtureKey, FixtureResult, judge, settled
from ladder.tournaments.models import Fixture, FixtureSeat, Tournament

STOCK = 3
"""Open games for each slot that all tournaments keep together: as many as a ladder,
so that each gets its half where both have work (games are played in the order in
which they were scheduled)."""
QUEUE = "tournament"

log = structlog.get_logger()


class PlanConflict(Exception):
    """Another process was first; the next tick sees what it did."""


def tick(slots: int) -> int:
    """Carry every tournament on; return how many matches were scheduled.

    Safe to call at any time, from anywhere, twice at once.
    """
    services.keep_time()
    tournaments = list(selectors.running())
    made = 0
    for k, tournament in enumerate(tournaments):
        try:
            advance(tournament)
        except (PlanConflict, IntegrityError):
            log.info("another process was first", tournament=tournament.slug)
        free = STOCK * slots - selectors.open_games()
        share = -(-free // (len(tournaments) - k))
        if share > 0:
            made += schedule(tournament, share)
    return made


def advance(tournament: Tournament) -> bool:
    """Take in what was decided and set up what follows; False if nothing was new."""
    reopened = selectors.voided_since(tournament).update(how="", decided_at=None)
    if reopened:
        log.info("fixtures are open again", tournament=tournament.slug, n=reopened)
    fresh = list(selectors.played_out(tournament))
    begun = tournament.fixtures.exists()
    if begun and not fresh and not selectors.waits_for_nobody(tournament):
        return False
    rules, field = selectors.config(tournament), selectors.field(tournament)
    before = [selectors.folded(row) for row in selectors.fixture_rows(tournament)]
    outcomes = {selectors.place(row): _judged(row, rules) for row in fresh}
    after, over = _fold(rules, field, before, outcomes)
    with transaction.atomic():
        _write(tournament, before, after)
        if over:
            services.finish(tournament)
    return True


def _judged(row: Fixture, rules: Config) -> FixtureResult:
    chairs = list(row.chairs.select_related("entrant"))
    positions = {c.entrant.submission_id or 0: k for k, c in enumerate(chairs)}
    assert row.match is not None  # `played_out` lists those with a match
    return judge(len(chairs), selectors.results(row.match, positions), rules.points)


def _fold(
    rules: Config,
    field: Sequence[values.SeededEntrant],
    before: Sequence[values.FixtureRecord],
    outcomes: dict[FixtureKey, FixtureResult],
) -> tuple[list[values.FixtureRecord], bool]:
    """Return all fixtures as they are now, and whether that was the end.

    Byes and walkovers are decided as soon as they are known, and what follows from
    them too.
    """
    left = frozenset(entrant.key for entrant in field if entrant.left)
    found = [replace(f, outcome=f.outcome or outcomes.get(f.place)) for f in before]
    while True:
        found = [replace(f, outcome=settled(f, left, rules.points)) for f in found]
        step = plan(rules, field, found)
        if not step.due:
            return found, step.over
        found += step.due


def _write(
    tournament: Tournament,
    before: Sequence[values.FixtureRecord],
    after: Sequence[values.FixtureRecord],
) -> None:
    """Write what is new. Raises Stale if a row is no longer as it was read."""
    known = {fixture.place: fixture for fixture in before}
    rows = {selectors.place(row): row for row in tournament.fixtures.all()}
    if rows.keys() != known.keys():
        raise PlanConflict
    rows |= _add(tournament, [f for f in after if f.place not in known])
    for fixture in after:
        was = known.get(fixture.place)
        if fixture.outcome is not None and (was is None or was.outcome is None):
            _decide(rows[fixture.place], fixture, fixture.outcome)


def _add(
    tournament: Tournament, fixtures: Sequence[values.FixtureRecord]
) -> dict[FixtureKey, Fixture]:
    """Add fixtures in two statements: a round robin has thousands."""
    made = Fixture.objects.bulk_create(
        Fixture(
            tournament=tournament,
            round=fixture.place.round,
            pool=fixture.place.pool,
            table=fixture.place.table,
            leg=fixture.place.leg,
        )
        for fixture in fixtures
    )
    FixtureSeat.objects.bulk_create(
        FixtureSeat(fixture=row, number=number, entrant_id=key)
        for row, fixture in zip(made, fixtures, strict=True)
        for number, key in enumerate(fixture.entrants)
    )
    return {selectors.place(row): row for row in made}


def _decide(
    row: Fixture, fixture: values.FixtureRecord, outcome: FixtureResult
) -> None:
    open_row = Fixture.objects.filter(pk=row.pk, how="")
    if not open_row.update(how=outcome.how, decided_at=Now()):
        raise PlanConflict
    for number in range(len(fixture.entrants)):
        FixtureSeat.objects.filter(fixture=row, number=number).update(
            points=str(outcome.points[number]), score=outcome.scores[number]
        )
    if row.match_id is not None:
        services.call_off(row.match_id, f"decided: {outcome.how}")


def schedule(tournament: Tournament, share: int) -> int:
    """Make matches of waiting fixtures until ``share`` games are more; return how many.

    A round is begun only when the results of the one before were taken in, so what
    waits can be played in any order.
    """
    rules, made, count = selectors.config(tournament), 0, 0
    for row in selectors.waiting(tournament)[:share]:  # each has one game at least
        if made >= share:
            break
        made += _make(tournament, row, rules).planned
        count += 1
    return count


@transaction.atomic
def _make(tournament: Tournament, row: Fixture, rules: Config) -> Match:
    seats = [chair.entrant.submission for chair in row.chairs.all()]
    embargo = tournament.held_back and row.round > tournament.revealed
    match = games.schedule_match(
        Match.Kind.TOURNAMENT,
        MatchTerms(tournament.ruleset, tournament.switches, tournament.limits, embargo),
        [submission for submission in seats if submission is not None],
        duplicate=rules.duplicate,
        queue=QUEUE,
    )
    if not Fixture.objects.filter(pk=row.pk, match=None, how="").update(match=match):
        raise PlanConflict
    return match
