"""Find workers that make bots fail, drain them, and play their games again.

The unit is an installation: one data folder on one host. Each seat that an installation
played in the last hour had some probability to fail (timeout or crash). It is estimated
from the same submission on all other installations in that hour, by Laplace's rule:
(failures + 1) / (seats + 2). Submissions that played nowhere else are left out. If, by
Chernoff's bound, the observed number of failures has a probability below one in a
billion, the installation is to blame. So a bot that crashes everywhere blames no
installation, and neither does a language that only one installation offers.

A bot may recognize a host and crash on purpose, so the bots of one or two owners are no
evidence (docs/decisions/0080-evidence-of-three-owners.md). House bots always are.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from itertools import dropwhile
from typing import NamedTuple

import structlog
from django.db.models import Count, Q
from django.db.models.functions import Now

from engine.faults import Fault
from ladder.games import selectors, services
from ladder.games.blame import MIN_OWNERS
from ladder.games.models import Attempt, Game, GameStatus, Seat, installation_of
from ladder.games.worker import registry

WINDOW = timedelta(hours=1)
# The negative logarithm of the probability of one in a billion.
BLAME_THRESHOLD = math.log(1e9)
FAILURES = (Fault.TIMEOUT, Fault.CRASH)

log = structlog.get_logger()


@dataclass(slots=True)
class SubmissionFaults:
    """The numbers of seats of one submission that were played and that failed.

    `owner` is the id of the bot's owner; None for a house bot.
    """

    seats: int = 0
    failed: int = 0
    owner: int | None = None


@dataclass(slots=True)
class Evidence:
    """The numbers of seats of one owner's bots that failed, and that should fail."""

    expected: float = 0.0
    failed: float = 0.0

    @property
    def excess(self) -> float:
        return self.failed - self.expected

    def limit(self, excess: float) -> None:
        """Scale this evidence down if it has more than this excess."""
        if self.excess > excess:
            share = excess / self.excess
            self.expected *= share
            self.failed *= share


VoidGame = Callable[[int, str], object]

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

    1. Compare each submission with itself on the other installations.
    2. Add up the evidence of each owner.
    3. Limit the excess of each owner to the third largest excess. So nothing is left of
       the evidence of two owners, and chance failures of others do not help them.
    4. Add up the evidence of all owners and of the house, which is not limited.
    """
    by_owner = _evidence(records, installation)
    house = by_owner.pop(None, Evidence())
    largest = sorted((owner.excess for owner in by_owner.values()), reverse=True)
    most = max(0.0, largest[MIN_OWNERS - 1]) if len(largest) >= MIN_OWNERS else 0.0
    for owner in by_owner.values():
        owner.limit(most)
    expected = house.expected + sum(owner.expected for owner in by_owner.values())
    failed = house.failed + sum(owner.failed for owner in by_owner.values())
    if failed <= expected:
        return 0.0
    return failed * math.log(failed / expected) - (failed - expected)


def _evidence(records: Records, installation: str) -> dict[int | None, Evidence]:
    """Return the evidence against an installation by owner; None is the house."""
    by_owner: dict[int | None, Evidence] = defaultdict(Evidence)
    for submission, here in records[installation].items():
        elsewhere = _faults_elsewhere(records, installation, submission)
        if elsewhere.seats:
            rate = (elsewhere.failed + 1) / (elsewhere.seats + 2)
            by_owner[here.owner].expected += here.seats * rate
            by_owner[here.owner].failed += here.failed
    return by_owner


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


def drain_faulty_workers(void: VoidGame = services.void) -> list[int]:
    """Drain the workers that are to blame, and play their games again.

    Return the games that were voided. `void` may refuse a game with NotNow, for example
    because the season that it belongs to has ended. Idempotent: voided games are no
    evidence.
    """
    records = _records()
    voided = []
    for worker in selectors.live_workers():
        installation = worker.installation
        if installation not in records:
            continue
        if surprise(records, installation) > BLAME_THRESHOLD:
            reason = "bots fail here that do not fail elsewhere"
            log.critical("worker drained", worker=worker.name, why=reason)
            registry.drain(worker.pk, reason)
            voided += _void_games_of(installation, void)
    return voided


def _records() -> Records:
    """Return the faults of the last hour.

    Bots of deleted accounts are left out: they have no owner, but are not the house's.
    """
    recent = Seat.objects.filter(
        game__status=GameStatus.FINISHED,
        game__finished_at__gt=Now() - WINDOW,
        game__attempts__outcome=Attempt.Outcome.FINISHED,
    )
    owned = recent.filter(
        Q(submission__bot__house=True) | Q(submission__bot__owner__isnull=False)
    ).order_by()
    rows = owned.values_list(
        "game__attempts__worker__name", "submission", "submission__bot__owner"
    ).annotate(seats=Count("pk"), failed=Count("pk", filter=Q(fault__in=FAILURES)))
    records: dict[str, dict[int, SubmissionFaults]] = defaultdict(
        lambda: defaultdict(SubmissionFaults)
    )
    for worker_name, submission, owner, seats, failed in rows:
        faults = records[installation_of(worker_name)][submission]
        faults.owner = owner
        faults.seats += seats
        faults.failed += failed
    return records


def _void_games_of(installation: str, void: VoidGame) -> list[int]:
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
            void(game.game, "played on a worker that was drained")
        except services.NotNow:
            continue  # an operator has voided it, or its season has ended
        voided.append(game.game)
    return voided
