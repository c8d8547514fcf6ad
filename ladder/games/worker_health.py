"""Find workers that make bots fail, drain them, and play their games again.

The unit is an installation: one data folder on one host. Each seat that an installation
played in the last hour had some probability to fail (timeout or crash). It is estimated
from the same submission on all other installations in that hour, by Laplace's rule:
(failures + 1) / (seats + 2). Submissions that played nowhere else are left out. If, by
Chernoff's bound, the observed number of failures has a probability below one in a
billion, the installation is to blame. So a bot that crashes everywhere blames no
installation, and neither does a language that only one installation offers.
"""

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from itertools import dropwhile
from typing import NamedTuple

import structlog
from django.db.models import Count, Q
from django.db.models.functions import Now

from engine.faults import Fault
from ladder.games import selectors, services
from ladder.games.models import Attempt, Game, GameStatus, Seat
from ladder.games.worker import registry

WINDOW = timedelta(hours=1)
# The negative logarithm of the probability of one in a billion.
BLAME_THRESHOLD = math.log(1e9)
FAILURES = (Fault.TIMEOUT, Fault.CRASH)

log = structlog.get_logger()


@dataclass(slots=True)
class SubmissionFaults:
    """How many seats of one submission were played, and how many of them failed."""

    seats: int = 0
    failed: int = 0


Records = Mapping[str, Mapping[int, SubmissionFaults]]
"""By installation and submission."""


class GameFailures(NamedTuple):
    """A game and the number of its seats that failed."""

    game: int
    failed: int


def surprise(records: Records, installation: str) -> float:
    """Return how improbable the failures on an installation are.

    The value is a lower bound of the negative natural logarithm of the probability of
    at least this many failures (Chernoff). It is 0 if no more seats failed than
    expected.
    """
    expected = 0.0
    failed = 0
    for submission, here in records[installation].items():
        elsewhere = _faults_elsewhere(records, installation, submission)
        if elsewhere.seats:
            expected += here.seats * (elsewhere.failed + 1) / (elsewhere.seats + 2)
            failed += here.failed
    if failed <= expected:
        return 0.0
    return failed * math.log(failed / expected) - (failed - expected)


def _faults_elsewhere(
    records: Records, installation: str, submission: int
) -> SubmissionFaults:
    others = [
        faults[submission]
        for name, faults in records.items()
        if name != installation and submission in faults
    ]
    return SubmissionFaults(
        seats=sum(faults.seats for faults in others),
        failed=sum(faults.failed for faults in others),
    )


def drain_faulty_workers() -> list[int]:
    """Drain the workers that are to blame, and play their games again.

    Return the games that were voided. Idempotent: voided games are no evidence.
    """
    records = _records()
    voided = []
    for worker in selectors.live_workers():
        installation = registry.installation_of(worker.name)
        if installation not in records:
            continue
        if surprise(records, installation) > BLAME_THRESHOLD:
            reason = "bots fail here that do not fail elsewhere"
            log.critical("worker drained", worker=worker.name, why=reason)
            registry.drain(worker.pk, reason)
            voided += _void_games_of(installation)
    return voided


def _records() -> Records:
    recent = Seat.objects.filter(
        game__status=GameStatus.FINISHED,
        game__finished_at__gt=Now() - WINDOW,
        game__attempts__outcome=Attempt.Outcome.FINISHED,
    ).order_by()
    rows = recent.values_list("game__attempts__worker__name", "submission").annotate(
        seats=Count("pk"), failed=Count("pk", filter=Q(fault__in=FAILURES))
    )
    records: dict[str, dict[int, SubmissionFaults]] = defaultdict(
        lambda: defaultdict(SubmissionFaults)
    )
    for worker_name, submission, seats, failed in rows:
        faults = records[registry.installation_of(worker_name)][submission]
        faults.seats += seats
        faults.failed += failed
    return records


def _void_games_of(installation: str) -> list[int]:
    """Void the games that an installation finished since its first failure."""
    finished = (
        Game.objects.filter(
            status=GameStatus.FINISHED,
            finished_at__gt=Now() - WINDOW,
            attempts__outcome=Attempt.Outcome.FINISHED,
            attempts__worker__in=registry.workers_of(installation),
        )
        .annotate(failed=Count("seats", filter=Q(seats__fault__in=FAILURES)))
        .order_by("finished_at", "pk")
        .values_list("pk", "failed")
    )
    games = [GameFailures(*row) for row in finished]
    voided = []
    for game in dropwhile(lambda game: not game.failed, games):
        try:
            services.void(game.game, "played on a worker that was drained")
        except services.NotNow:
            continue  # an operator has voided it in the meantime
        voided.append(game.game)
    return voided
