"""Queries about all games and workers: counts, waiting games, live workers."""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import timedelta
from statistics import mean
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
from ladder.games.models import OPEN, Attempt, Game, GameStatus, Match, Worker
from ladder.games.sql import DueGame, OpenGames

# A hint that led to no claim for this long counts as lost, and is sent again.
HINT_LIFETIME = timedelta(seconds=settings.TORRES_LEASE_SECONDS * 2 / 3)
# A worker that did not report for this long counts as dead.
WORKER_TIMEOUT = timedelta(seconds=settings.TORRES_LEASE_SECONDS * 1.5)
# For how long the status shows a worker that was lost.
SILENT_WORKER_SHOWN = timedelta(days=1)
# The latest games that tell how long a game occupies a slot.
MEASURED_GAMES = 100


class UsualGame(NamedTuple):
    """The mean seconds that a game occupies a slot, and its mean number of seats."""

    slot_s: float
    seats: float


@dataclass(frozen=True, slots=True)
class GameTally:
    """How many games were created, and how many are in each state."""

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
        """Return how many games were lost. Anything but 0 is a defect."""
        ended = self.finished + self.voided + self.dead + self.cancelled
        return self.created - ended - self.open


def tally() -> GameTally:
    """Count the games. `created` comes from the matches, the rest from the games.

    One statement reads both, so that the totals agree while others schedule and play.
    Indexes hold all that it reads.
    """
    by_status = Game.objects.order_by().values("status").annotate(count=Count("pk"))
    rows = by_status.annotate(
        planned=Subquery(_planned(), output_field=BigIntegerField()),
        replacements=Subquery(replacing_games(), output_field=BigIntegerField()),
    ).values_list("status", "count", "planned", "replacements")
    counts = dict.fromkeys(GameStatus.values, 0)
    created = 0
    for status, count, planned, replacements in rows:
        counts[status] = count
        created = (planned or 0) + (replacements or 0)
    return GameTally(created=created or _planned_without_games(), **counts)


def _planned() -> QuerySet[Match, Any]:
    """Return one row with the sum of the planned games of all matches."""
    one_group = Match.objects.order_by().annotate(all=Value(1)).values("all")
    return one_group.annotate(n=Sum("planned")).values("n")


def _planned_without_games() -> int:
    """Return the number of planned games. Without any game all of them are missing."""
    return sum(row["n"] or 0 for row in _planned())


def replacing_games() -> QuerySet[Game, Any]:
    """Return one row with the number of games that replace a voided one."""
    replacing = Game.objects.filter(replaces__isnull=False).order_by()
    one_group = replacing.annotate(all=Value(1)).values("all")
    return one_group.annotate(n=Count("pk")).values("n")


@dataclass(frozen=True, slots=True)
class ServiceState:
    """The first facts that an operator needs, apart from the tally."""

    failed_attempts: int
    workers: int
    slots: int
    oldest_waiting_s: float | None


def service_state() -> ServiceState:
    """Return counts of attempts and workers, and the longest waiting time of a game."""
    failed = Attempt.objects.filter(outcome=Attempt.Outcome.FAILED).count()
    workers = live_workers().aggregate(n=Count("pk"), slots=Sum("slots"))
    oldest = Game.objects.filter(status=GameStatus.SCHEDULED).aggregate(
        first=Min("created_at"), now=Max(Now())
    )
    waited_s = None
    if oldest["first"]:
        waited_s = (oldest["now"] - oldest["first"]).total_seconds()
    return ServiceState(failed, workers["n"], workers["slots"] or 0, waited_s)


def live_workers() -> QuerySet[Worker]:
    """List the workers that reported lately and take games."""
    return reporting_workers().filter(drained=False)


def live_players() -> QuerySet[Worker]:
    """List the live workers that play games; others only check uploads or fold."""
    return live_workers().filter(slots__gt=0)


def drained_workers() -> QuerySet[Worker]:
    """List the workers that reported lately and take no games."""
    return reporting_workers().filter(drained=True)


def reporting_workers() -> QuerySet[Worker]:
    return Worker.objects.filter(
        seen_at__gt=Now() - WORKER_TIMEOUT, gone_at__isnull=True
    )


def silent_workers() -> list[Worker]:
    """List the workers that stopped reporting lately without signing off.

    A worker is left out if another process of its installation has replaced it, or
    after SILENT_WORKER_SHOWN.
    """
    silent = Worker.objects.filter(
        gone_at__isnull=True,
        seen_at__lte=Now() - WORKER_TIMEOUT,
        seen_at__gt=Now() - SILENT_WORKER_SHOWN,
    )
    reporting = {worker.installation for worker in reporting_workers()}
    return [worker for worker in silent if worker.installation not in reporting]


def worker_pool() -> WorkerPool:
    """Return the workers that take games now, grouped by what they offer."""
    slots: Counter[Capabilities | None] = Counter()
    plays_only = builders = 0
    for worker in live_workers().only(
        "slots", "upload_slots", "memory_mb", "languages", "sandbox", "versions"
    ):
        if not worker.slots:
            builders += worker.upload_slots
            continue
        slots[offered(worker)] += worker.slots
        plays_only += 0 if worker.upload_slots else worker.slots
    groups = [WorkerGroup(tags, count) for tags, count in slots.items()]
    return WorkerPool(groups, plays_only, builders)


def offered(worker: Worker) -> Capabilities | None:
    """Return the tags that a worker offers; None if it has not described itself."""
    if not worker.languages:
        return None
    rules = worker.versions.get("rules", "1")
    slot_mb = capabilities.slot_memory_mb(worker.memory_mb, worker.slots)
    return capabilities.offers(worker.languages, worker.sandbox, rules, slot_mb)


def due(
    limit: int,
    needs: Collection[str] = (),
    budgets: Collection[str] = (),
    *,
    hint_s: float = HINT_LIFETIME.total_seconds(),
) -> list[DueGame]:
    """List scheduled games that need a hint, in the order of their turn.

    Games with one of these `needs` or `budgets` are left out. A hint counts as lost
    after `hint_s` seconds.
    """
    return sql.due(limit, hint_s, needs, budgets)


def open_games() -> list[OpenGames]:
    """Count the games that are scheduled or running, by how far they are."""
    return sql.open_games(HINT_LIFETIME.total_seconds())


def needing_hints() -> QuerySet[Game]:
    """Select the games that `due` lists."""
    scheduled = Game.objects.filter(status=GameStatus.SCHEDULED)
    without_hint = Q(sent_at=None) | Q(sent_at__lt=Now() - HINT_LIFETIME)
    return scheduled.filter(without_hint).exclude(match__seed="")


def hinted() -> QuerySet[Game]:
    """Select the scheduled games with a hint that may still arrive."""
    scheduled = Game.objects.filter(status=GameStatus.SCHEDULED)
    return scheduled.filter(sent_at__gte=Now() - HINT_LIFETIME)


def in_flight(games: Iterable[OpenGames]) -> Counter[str]:
    """Count the games with a hint that no worker has followed yet, by queue."""
    counts: Counter[str] = Counter()
    for row in games:
        if row.queue:
            counts[row.queue] += row.games
    return counts


def waiting() -> Counter[str]:
    """Count the games that wait for a worker, by what they need."""
    scheduled = Game.objects.filter(status=GameStatus.SCHEDULED)
    return Counter(dict(scheduled.values_list("needs").annotate(n=Count("pk"))))


def usual_game(seats: int | None = None) -> UsualGame | None:
    """Return the means of the latest games, or of those with this number of seats.

    None if no game has finished.
    """
    latest = Game.objects.filter(finished_at__isnull=False, started_at__isnull=False)
    if seats is not None:
        latest = latest.filter(match__seats=seats)
    rows = latest.order_by("-finished_at").values_list(
        "started_at", "finished_at", "match__seats"
    )[:MEASURED_GAMES]
    spent_s = [
        (finished - started).total_seconds()
        for started, finished, _ in rows
        if started and finished
    ]
    if not spent_s:
        return None
    return UsualGame(mean(spent_s), mean(seats for *_, seats in rows))


def overdue_matches() -> QuerySet[Match]:
    """List the public matches that should have ended by now, the oldest first."""
    limit = Now() - timedelta(hours=settings.TORRES_MATCH_HOURS)
    waiting = Game.objects.filter(status__in=OPEN).values("match")
    late = Match.objects.filter(pk__in=waiting, embargo=False, created_at__lt=limit)
    return late.exclude(kind=Match.Kind.COMPARISON).order_by("pk")
