"""Sentinels: the invariants of `manage.py audit` that an index can check at any time.

The monitor looks at them once a minute, so that a fault of ours is seen while the
service runs. Each looks at the games that are open, or at those that finished lately,
but not at the last seconds, which others may be writing.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.db.models.functions import Now

from ladder.extras.self_audit.models import SelfAudit
from ladder.games.models import Attempt, Game, GameStatus, Seat
from ladder.health.signs import Sign
from ladder.ratings.models import Entry, Season
from torres.rating.ledger import EntryKind

WINDOW = timedelta(minutes=15)
"""Longer than the time between two looks, so that no game is missed."""
SETTLED = timedelta(minutes=2)
"""The parts that follow a game have done their work after this time."""
MAX_COUNT = 1000
Violations = QuerySet[Game] | QuerySet[Seat] | QuerySet[Season] | QuerySet[SelfAudit]


@dataclass(frozen=True, slots=True)
class Sentinel:
    """An invariant, with the query for the rows that violate it, and what cures it."""

    name: str
    problem: str
    cure: str
    violations: Callable[[], Violations]

    def count(self) -> int:
        """Return how many rows violate it, at most MAX_COUNT."""
        return self.violations()[:MAX_COUNT].count()

    def look(self) -> Sign:
        found = self.count()
        if not found:
            return Sign(self.name)
        return Sign(self.name, f"{self.problem}: {found}.", self.cure)


def look() -> Iterator[Sign]:
    """Look at all sentinels. Raises an Error of the database."""
    return (sentinel.look() for sentinel in SENTINELS)


def _settled() -> QuerySet[Game]:
    """Return the games with a result of the last minutes."""
    return Game.objects.filter(
        finished_at__gt=Now() - WINDOW, finished_at__lt=Now() - SETTLED
    ).order_by()


def _not_reaped() -> QuerySet[Game]:
    return Game.objects.filter(
        status=GameStatus.RUNNING, lease_until__lt=Now() - SETTLED
    ).order_by()


def _without_attempt() -> QuerySet[Game]:
    here = Attempt.objects.filter(game=OuterRef("pk"))
    opened = here.filter(fence=OuterRef("fence"), outcome=Attempt.Outcome.OPEN)
    long_running = Game.objects.filter(
        ~Exists(opened), status=GameStatus.RUNNING, started_at__lt=Now() - SETTLED
    ).order_by()
    finished = here.filter(outcome=Attempt.Outcome.FINISHED)
    left_open = here.filter(outcome=Attempt.Outcome.OPEN)
    ended = _settled().filter(~Exists(finished) | Exists(left_open))
    return long_running.union(ended, all=True)


def _unrated() -> QuerySet[Game]:
    rated = Entry.objects.filter(game=OuterRef("pk"), kind=EntryKind.GAME)
    return _settled().filter(
        ~Exists(rated),
        status=GameStatus.FINISHED,
        match__pairing__isnull=False,
        match__pairing__open=False,
    )


def _seats_without_result() -> QuerySet[Seat]:
    return Seat.objects.filter(
        Q(rank__isnull=True) | ~Q(bot=F("submission__bot")), game__in=_settled()
    ).order_by()


def _incomplete_ledgers() -> QuerySet[Season]:
    last = Entry.objects.filter(season=OuterRef("pk")).order_by("-seq").values("seq")
    return (
        Season.objects.exclude(status=Season.Status.ARCHIVED)
        .filter(~Q(head=0))
        .exclude(head=last[:1])
        .order_by()
    )


def _audits_with_findings() -> QuerySet[SelfAudit]:
    return SelfAudit.objects.filter(findings__gt=0)


SENTINELS = (
    Sentinel(
        "leases",
        "Games of lost workers were not taken back",
        "The dispatcher does it in each tick. Read its log, and restart it.",
        _not_reaped,
    ),
    Sentinel(
        "attempts",
        "Running or finished games do not have exactly one attempt that fits",
        "Stop the dispatcher, wait until no game runs, and run manage.py audit. Void"
        " the finished ones with manage.py operator void.",
        _without_attempt,
    ),
    Sentinel(
        "unrated games",
        "Finished games are not rated, and their pairings are closed",
        "The dispatcher opens these pairings within a minute. If it does not, run"
        " manage.py rebuild_ratings.",
        _unrated,
    ),
    Sentinel(
        "seats",
        "Seats of finished games have no rank, or name a bot of another submission",
        "Void their games with manage.py operator void, so that they are played again.",
        _seats_without_result,
    ),
    Sentinel(
        "ledgers",
        "Seasons whose ledger does not end with their last entry",
        "Run manage.py rebuild_ratings --check. It says what to do.",
        _incomplete_ledgers,
    ),
    Sentinel(
        "public view",
        "Daily audits of this service found differences to its public log",
        "The page /log/operators-hand/ lists them. Run manage.py audit --public after"
        " the cure.",
        _audits_with_findings,
    ),
)
