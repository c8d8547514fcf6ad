"""Second opinions: when a season needs a new one, and reading the stored ones.

A second opinion estimates all strengths of a season from all its games at once
(`season_estimate`). It stands beside the leaderboard, which stays the official order.
This module imports no numpy, so it costs the web server nothing.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import F, Max, Q, Subquery
from django.utils import timezone

from ladder.bots.models import Bot
from ladder.ratings.leaderboard import INTERVAL_95_SDS
from ladder.ratings.models import Season, SecondOpinion, SecondOpinionRow

MIN_ENTRIES = 50
"""A shorter ledger gets no second opinion."""
MIN_GROWTH = 1.05
"""A new one is made when the ledger has grown by this factor,"""
MIN_AGE = timedelta(minutes=10)
"""and the last one is at least this old."""
MAX_AGE = timedelta(days=1)
"""A ledger that has grown less gets a new one after this time."""
MAX_POINTS = 500

_COLUMNS = (
    "rank",
    "bot__slug",
    "bot__name",
    "bot__house",
    "submission",
    "games",
    "value",
    "error",
    "best",
    "worst",
    "top",
)


@dataclass(frozen=True, slots=True)
class OpinionOnBot:
    """One bot in a second opinion. `value` is in points above the anchors.

    `best` and `worst` are the ranks that the games do not exclude, with 95 % for all
    bots together. `top` is the probability of being one of the best three.
    """

    rank: int
    bot: str
    name: str
    house: bool
    submission: int
    games: int
    value: float
    error: float
    best: int
    worst: int
    top: float

    @property
    def low(self) -> float:
        """The lower end of the 95 % interval of the value."""
        return self.value - INTERVAL_95_SDS * self.error

    @property
    def high(self) -> float:
        return self.value + INTERVAL_95_SDS * self.error


@dataclass(frozen=True, slots=True)
class OpinionPoint(OpinionOnBot):
    """The opinion on a bot after entry `seq` of the ledger."""

    seq: int
    created_at: datetime


@dataclass(frozen=True, slots=True)
class OpinionPage:
    """A part of a second opinion; `total` counts all bots."""

    rows: list[OpinionOnBot]
    total: int


def due_seasons() -> list[Season]:
    """Return the seasons that need a new second opinion. One query."""
    now = timezone.now()
    last = Max("second_opinions__seq")
    last_at = Max("second_opinions__created_at")
    grown = Q(head__gte=F("last") * MIN_GROWTH, last_at__lte=now - MIN_AGE)
    old = Q(last_at__lte=now - MAX_AGE) | Q(status=Season.Status.ARCHIVED)
    seasons = Season.objects.annotate(last=last, last_at=last_at)
    due = seasons.filter(
        Q(last=None, head__gte=MIN_ENTRIES) | (Q(head__gt=F("last")) & (grown | old))
    )
    return list(due.order_by("pk"))


def latest(season: Season) -> SecondOpinion | None:
    return SecondOpinion.objects.filter(season=season).order_by("-seq").first()


def page(opinion: SecondOpinion, start: int, length: int) -> OpinionPage:
    """Return `length` bots of a second opinion, best first, from index `start` on."""
    rows = SecondOpinionRow.objects.filter(opinion=opinion).order_by("rank")
    part = rows.filter(rank__gt=start, rank__lte=start + length)
    found = [OpinionOnBot(*row) for row in part.values_list(*_COLUMNS)]
    return OpinionPage(found, rows.count())


def opinions_on(season: Season, bots: Iterable[int]) -> dict[int, OpinionOnBot]:
    """Return the latest opinion on each of these bots, by id. Bots may be missing."""
    newest = SecondOpinion.objects.filter(season=season).order_by("-seq").values("pk")
    rows = SecondOpinionRow.objects.filter(
        opinion=Subquery(newest[:1]), bot__in=list(bots)
    )
    return {
        bot: OpinionOnBot(*columns)
        for bot, *columns in rows.values_list("bot_id", *_COLUMNS)
    }


def history(season: Season, bot: Bot) -> list[OpinionPoint]:
    """Return the latest `MAX_POINTS` opinions on a bot in a season, oldest first."""
    rows = SecondOpinionRow.objects.filter(opinion__season=season, bot=bot)
    latest_rows = rows.order_by("-opinion__seq")[:MAX_POINTS]
    columns = (*_COLUMNS, "opinion__seq", "opinion__created_at")
    return [OpinionPoint(*row) for row in latest_rows.values_list(*columns)][::-1]
