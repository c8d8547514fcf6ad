"""What became of every game, and which are due."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

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

from ladder.games.models import Attempt, Game, GameStatus, Match, Worker

HINT_LIFE = timedelta(seconds=settings.TORRES_LEASE_SECONDS * 2 / 3)
"""A hint that led to no claim for so long is taken for lost."""
SILENCE = timedelta(seconds=settings.TORRES_LEASE_SECONDS * 1.5)
"""A worker that has not been heard for so long is taken for dead."""


@dataclass(frozen=True, slots=True)
class Tally:
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


def tally() -> Tally:
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
    return Tally(created=created, **counts)


def _planned() -> QuerySet[Match, Any]:
    whole = Match.objects.order_by().annotate(all=Value(1)).values("all")
    return whole.annotate(n=Sum("planned")).values("n")


@dataclass(frozen=True, slots=True)
class Pulse:
    """What an operator looks at first, beside the tally."""

    failed_attempts: int
    workers: int
    slots: int
    oldest_waiting_s: float | None


def pulse() -> Pulse:
    """Look at the attempts, the workers, and the game that has waited longest."""
    failed = Attempt.objects.filter(outcome=Attempt.Outcome.FAILED).count()
    workers = live().aggregate(n=Count("pk"), slots=Sum("slots"))
    oldest = Game.objects.filter(status=GameStatus.SCHEDULED).aggregate(
        first=Min("created_at"), now=Max(Now())
    )
    waited = (
        (oldest["now"] - oldest["first"]).total_seconds() if oldest["first"] else None
    )
    return Pulse(failed, workers["n"], workers["slots"] or 0, waited)


def live() -> QuerySet[Worker]:
    """List the workers that were heard lately and take games."""
    return Worker.objects.filter(
        seen_at__gt=Now() - SILENCE, gone_at__isnull=True, drained=False
    )


def slots() -> int:
    """Return how many games all live workers can play at once."""
    return live().aggregate(n=Sum("slots"))["n"] or 0


def due(limit: int) -> QuerySet[Game]:
    """List scheduled games without a fresh hint, in the order of their turn."""
    return (
        Game.objects.filter(status=GameStatus.SCHEDULED)
        .filter(Q(sent_at__isnull=True) | Q(sent_at__lt=Now() - HINT_LIFE))
        .order_by("-priority", "pk")
        .only("pk", "queue", "sent_at", "failures")[:limit]
    )


def in_flight(queues: Sequence[str] | None = None) -> int:
    """Count the games whose hint is out and that nobody has claimed."""
    out = Game.objects.filter(
        status=GameStatus.SCHEDULED, sent_at__gte=Now() - HINT_LIFE
    )
    return (out if queues is None else out.filter(queue__in=queues)).count()


def silent_workers() -> QuerySet[Worker]:
    """List workers that never signed off and are not heard any more."""
    return Worker.objects.filter(gone_at__isnull=True).exclude(
        pk__in=live().values("pk")
    )
