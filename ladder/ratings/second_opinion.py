"""Second opinions: when a season needs a new one, and reading the stored ones.

One without a season is the estimate over the present seasons of all ladders.

A second opinion estimates all strengths of a season from all its games at once
(`season_estimate`). The interval, the possible ranks and the bands of the leaderboard
come from it; the order is that of TrueSkill. This module imports no numpy, so it costs
the web server nothing.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.db.models import F, OuterRef, Q, Subquery
from django.utils import timezone

from ladder.bots.models import Bot
from ladder.ratings.leaderboard import (
    JointEstimate,
    LeaderboardPage,
    read_at_one_entry,
)
from ladder.ratings.models import Season, SecondOpinion, SecondOpinionRow
from torres.rating.joint_claims import RankRange, interval_95_errors

MIN_ENTRIES = 50
"""A shorter ledger gets no second opinion."""
MIN_AGE = timedelta(seconds=30)
"""A ledger that has grown gets a new one when the last one is at least this old,"""
MIN_PAUSE = 10
"""and when this many times the processor time that the last one took has passed. So a
season with many games takes a tenth of a processor at most."""
COMBINED_MIN_AGE = timedelta(minutes=10)
"""The estimate over all ladders is made again when it is at least this old."""
KEPT_GROWTH = 1.05
"""Of the old ones those are kept between which the ledger grew by this factor."""
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
    "duel",
    "weighted",
    "weighted_rank",
)


@dataclass(frozen=True, slots=True)
class OpinionOnBot:
    """One bot in a second opinion. `value` is in points above the anchors.

    `best` and `worst` are the ranks that the games do not exclude, with 95 % for all
    bots together. `top` is the probability of being one of the best three, and `duel`
    that of winning a duel with a random one of the other bots. `weighted` and
    `weighted_rank` come from the fit in which copies share one vote.
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
    duel: float
    weighted: float
    weighted_rank: int

    @property
    def low(self) -> float:
        """The lower end of the 95 % interval of the value."""
        return self.value - interval_95_errors(self.games) * self.error

    @property
    def high(self) -> float:
        return self.value + interval_95_errors(self.games) * self.error

    @property
    def joint(self) -> JointEstimate:
        return JointEstimate(
            self.value,
            self.low,
            self.high,
            self.best,
            self.worst,
            self.games,
            self.weighted_rank,
        )


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
    newest = SecondOpinion.objects.filter(season=OuterRef("pk")).order_by("-seq")[:1]
    seasons = Season.objects.annotate(
        last=Subquery(newest.values("seq")),
        last_at=Subquery(newest.values("created_at")),
        last_took_s=Subquery(newest.values("seconds")),
    )
    grown = Q(last=None, head__gte=MIN_ENTRIES) | Q(head__gt=F("last"))
    return [
        season
        for season in seasons.filter(grown).order_by("pk")
        if season.last_at is None
        or season.status == Season.Status.ARCHIVED
        or now - season.last_at >= _pause_after(season.last_took_s)
    ]


def _pause_after(seconds: float) -> timedelta:
    """Return how long to wait after an opinion, by the processor time it took."""
    return max(MIN_AGE, MIN_PAUSE * timedelta(seconds=seconds))


def present_seasons() -> list[Season]:
    """Return the newest season of each ladder, if games were rated in it."""
    seasons = Season.objects.select_related("ladder").order_by("number")
    newest = {season.ladder_id: season for season in seasons}
    return [season for season in newest.values() if season.head >= MIN_ENTRIES]


def is_combined_due() -> bool:
    """True if the strengths over all ladders have to be estimated again."""
    last = latest(None)
    if last is None:
        return len(present_seasons()) > 1
    pause = max(COMBINED_MIN_AGE, _pause_after(last.seconds))
    if timezone.now() - last.created_at < pause:
        return False
    seasons = present_seasons()
    return len(seasons) > 1 and sum(each.head for each in seasons) != last.seq


def thin_out(season: Season | None) -> None:
    """Delete the opinion before the newest one, unless it belongs to the history.

    It does if the ledger had grown by `KEPT_GROWTH` since the one before it.
    """
    rows = SecondOpinion.objects.filter(season=season).order_by("-seq")
    _, *earlier = rows.values_list("pk", "seq")[:3]
    if len(earlier) == 2:
        (middle, its_seq), (_, oldest_seq) = earlier
        if its_seq < oldest_seq * KEPT_GROWTH:
            SecondOpinion.objects.filter(pk=middle).delete()


def keep_copies(season: Season, pairs: list[tuple[int, int]]) -> None:
    """Store which bots are copies of each other, by their ids, for the next opinion."""
    Season.objects.filter(pk=season.pk).update(copies=pairs)


def latest(season: Season | None) -> SecondOpinion | None:
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


def add_joint(
    season: Season, board: LeaderboardPage
) -> tuple[LeaderboardPage, int | None]:
    """Return the page with the estimates of its bots, and the entry they go up to."""
    newest = SecondOpinion.objects.filter(season=season).order_by("-seq")
    found, seq = read_at_one_entry(
        newest.values_list("seq", flat=True),
        lambda: opinions_on(season, [row.id for row in board.rows]),
    )
    if not seq:
        return board, None
    rows = [
        replace(row, joint=found[row.id].joint) if row.id in found else row
        for row in board.rows
    ]
    return replace(board, rows=rows), seq


def rank_ranges(season: Season) -> dict[int, RankRange]:
    """Return the ranks of all listed bots in the latest opinion, by id."""
    newest = SecondOpinion.objects.filter(season=season).order_by("-seq").values("pk")
    rows = SecondOpinionRow.objects.filter(opinion=Subquery(newest[:1]))
    columns = rows.values_list("bot_id", "rank", "best", "worst")
    return {bot: RankRange(*ranks) for bot, *ranks in columns}


def is_order_certain(season: Season, one: int, other: int) -> bool:
    """True if the latest opinion is sure which of two bots is better, by their ids."""
    found = opinions_on(season, [one, other])
    if len(found) < 2:
        return False
    first, second = (RankRange(o.rank, o.best, o.worst) for o in found.values())
    return first.is_surely_above(second) or second.is_surely_above(first)


def history(season: Season, bot: Bot) -> list[OpinionPoint]:
    """Return the latest `MAX_POINTS` opinions on a bot that are kept, oldest first."""
    rows = SecondOpinionRow.objects.filter(opinion__season=season, bot=bot)
    latest_rows = rows.order_by("-opinion__seq")[:MAX_POINTS]
    columns = (*_COLUMNS, "opinion__seq", "opinion__created_at")
    return [OpinionPoint(*row) for row in latest_rows.values_list(*columns)][::-1]
