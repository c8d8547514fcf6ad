"""What became of every game, and which are due."""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, NamedTuple

from django.conf import settings
from django.db.models import (
    BigIntegerField,
    Count,
    Max,
    Min,
    Q,
    QuerySet,
    Subquery,
    Sum,
    Value,
)
from django.db.models.functions import Now

from ladder.games import capabilities, sql
from ladder.games.capabilities import Capabilities, WorkerGroup, WorkerPool
from ladder.games.models import Attempt, Game, GameStatus, Match, Worker

HINT_LIFE = timedelta(seconds=settings.TORRES_LEASE_SECONDS * 2 / 3)
"""A hint that led to no claim for so long is taken for lost."""
SILENCE = timedelta(seconds=settings.TORRES_LEASE_SECONDS * 1.5)
"""A worker that has not been heard for so long is taken for dead."""


@dataclass(frozen=True, slots=True)
class GameTally:
    """Of every game that was created, where it stands."""

    created: int
    scheduled: int
    running: int
    finished: int
    voided: int
    dead: int
    cancelled: int

    @property
    def open(self) -> int:
        return self.scheduled + self.running

    @property
    def missing(self) -> int:
        """Return how many games were lost: always 0, unless something is broken."""
        ends = self.finished + self.voided + self.dead + self.cancelled
        return self.created - ends - self.open

    @property
    def comes_out(self) -> bool:
        """Say whether every game that was created is still accounted for."""
        return self.missing == 0


def tally() -> GameTally:
    """Count the games. `created` comes from the matches, the rest from the games.

    One statement, so that the sum comes out while others schedule and play.
    """
    counts = Game.objects.aggregate(
        planned=Max(Subquery(_planned(), output_field=BigIntegerField())),
        replacements=Count("pk", filter=Q(replaces__isnull=False)),
        **{
            status: Count("pk", filter=Q(status=status)) for status in GameStatus.values
        },
    )
    created = (counts.pop("planned") or 0) + counts.pop("replacements")
    return GameTally(created=created, **counts)


def _planned() -> QuerySet[Match, Any]:
    whole = Match.objects.order_by().annotate(all=Value(1)).values("all")
    return whole.annotate(n=Sum("planned")).values("n")


@dataclass(frozen=True, slots=True)
class ServiceState:
    """What an operator looks at first, beside the tally."""

    failed_attempts: int
    workers: int
    slots: int
    oldest_waiting_s: float | None


def pulse() -> ServiceState:
    """Look at the attempts, the workers, and the game that has waited longest."""
    failed = Attempt.objects.filter(outcome=Attempt.Outcome.FAILED).count()
    workers = live().aggregate(n=Count("pk"), slots=Sum("slots"))
    oldest = Game.objects.filter(status=GameStatus.SCHEDULED).aggregate(
        first=Min("created_at"), now=Max(Now())
    )
    waited = (
        (oldest["now"] - oldest["first"]).total_seconds() if oldest["first"] else None
    )
    return ServiceState(failed, workers["n"], workers["slots"] or 0, waited)


def live() -> QuerySet[Worker]:
    """List the workers that were heard lately and take games."""
    return Worker.objects.filter(
        seen_at__gt=Now() - SILENCE, gone_at__isnull=True, drained=False
    )


def roster() -> WorkerPool:
    """Return who takes games now, by what they offer."""
    slots: Counter[Capabilities | None] = Counter()
    for worker in live().only("slots", "languages", "sandbox", "versions"):
        slots[offered(worker)] += worker.slots
    return WorkerPool([WorkerGroup(words, count) for words, count in slots.items()])


def offered(worker: Worker) -> Capabilities | None:
    """Return what a worker offers; None if it told nothing of itself."""
    if not worker.languages:
        return None
    rules = worker.versions.get("rules", "1")
    return capabilities.offers(worker.languages, worker.sandbox, rules)


class DueGame(NamedTuple):
    """A game that a hint is to go out for; `again` if it was sent or tried before."""

    game: int
    queue: str
    needs: str
    again: bool


def due(limit: int, without: Collection[str] = ()) -> list[DueGame]:
    """List scheduled games without a fresh hint, in the order of their turn.

    Leaves out those with the needs that `without` names.
    """
    return [DueGame(*row) for row in sql.due(limit, HINT_LIFE.total_seconds(), without)]


def in_flight() -> Counter[str]:
    """Count the games whose hint is out and that nobody has claimed, by its queue."""
    return Counter(dict(sql.in_flight(HINT_LIFE.total_seconds())))


def waiting() -> Counter[str]:
    """Count the games that wait for a worker, by what they need."""
    scheduled = Game.objects.filter(status=GameStatus.SCHEDULED)
    return Counter(dict(scheduled.values_list("needs").annotate(n=Count("pk"))))


def drained() -> QuerySet[Worker]:
    """List the workers that are heard and take no games."""
    return Worker.objects.filter(
        seen_at__gt=Now() - SILENCE, gone_at__isnull=True, drained=True
    )


def silent_workers() -> QuerySet[Worker]:
    """List workers that never signed off and are not heard any more."""
    return Worker.objects.filter(gone_at__isnull=True, seen_at__lte=Now() - SILENCE)
