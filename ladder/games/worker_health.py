"""A worker on which bots fail that fail nowhere else is drained; its games go again.

Each seat that a station's workers gave a bot in the last hour has a chance to fail
(timeout or crash): that of the same submission elsewhere in that hour, by Laplace's
rule (failed + 1) / (seats + 2). Bots that played nowhere else say nothing. When so many
failures as there were have a chance below one in a billion by Chernoff's bound, the
worker is to blame. So a bot that always crashes blames nobody, and neither does a
language that only one worker has.
"""

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from itertools import dropwhile

import structlog
from django.db.models import Count, Q
from django.db.models.functions import Now

from engine.faults import Fault
from ladder.games import selectors, services
from ladder.games.models import Attempt, Game, GameStatus, Seat
from ladder.games.worker import registry

WINDOW = timedelta(hours=1)
BLAME = math.log(1e9)
FAILED = (Fault.TIMEOUT, Fault.CRASH)

log = structlog.get_logger()


@dataclass(slots=True)
class SubmissionFaults:
    """How often the seats of one submission failed."""

    seats: int = 0
    failed: int = 0


Records = Mapping[str, Mapping[int, SubmissionFaults]]
"""By station and submission."""


def surprise(records: Records, station: str) -> float:
    """Return how unlikely a station's failures are: minus the logarithm of a bound."""
    expected, failed = 0.0, 0
    for submission, here in records[station].items():
        there = _elsewhere(records, station, submission)
        if there.seats:
            expected += here.seats * (there.failed + 1) / (there.seats + 2)
            failed += here.failed
    if failed <= expected:
        return 0.0
    return failed * math.log(failed / expected) - (failed - expected)


def _elsewhere(records: Records, station: str, submission: int) -> SubmissionFaults:
    others = [
        table[submission]
        for name, table in records.items()
        if name != station and submission in table
    ]
    return SubmissionFaults(sum(r.seats for r in others), sum(r.failed for r in others))


def look() -> list[int]:
    """Drain the stations that are to blame, and play their games again.

    Returns the games that were voided. Safe to run twice: what was voided is no
    evidence any more.
    """
    records = _records()
    voided = []
    for worker in selectors.live():
        station = registry.station_of(worker.name)
        if station in records and surprise(records, station) > BLAME:
            why = "bots fail here that do not fail elsewhere"
            log.critical("worker drained", worker=worker.name, why=why)
            registry.drain(worker.pk, why)
            voided += _void(station)
    return voided


def _records() -> Records:
    lately = Seat.objects.filter(
        game__status=GameStatus.FINISHED,
        game__finished_at__gt=Now() - WINDOW,
        game__attempts__outcome=Attempt.Outcome.FINISHED,
    ).order_by()
    counted = lately.values_list("game__attempts__worker__name", "submission").annotate(
        seats=Count("pk"), failed=Count("pk", filter=Q(fault__in=FAILED))
    )
    records: dict[str, dict[int, SubmissionFaults]] = defaultdict(
        lambda: defaultdict(SubmissionFaults)
    )
    for name, submission, seats, failed in counted:
        record = records[registry.station_of(name)][submission]
        record.seats += seats
        record.failed += failed
    return records


def _void(station: str) -> list[int]:
    """Void what a station finished since the first failure of the window."""
    bad = Count("seats", filter=Q(seats__fault__in=FAILED))
    games = (
        Game.objects.filter(
            status=GameStatus.FINISHED,
            finished_at__gt=Now() - WINDOW,
            attempts__outcome=Attempt.Outcome.FINISHED,
            attempts__worker__in=registry.at(station),
        )
        .annotate(bad=bad)
        .order_by("finished_at", "pk")
        .values_list("pk", "bad")
    )
    voided = []
    for game, _ in dropwhile(lambda row: not row[1], list(games)):
        try:
            services.void(game, "played on a worker that was drained")
        except services.NotNow:
            continue  # an operator was first
        voided.append(game)
    return voided
