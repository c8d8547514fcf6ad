"""Parts of a leaderboard: a search, a language, or without withdrawn bots. Reads only.

The rank of a row is that on the whole leaderboard, whatever else is listed. The pages
show these rows. The API shows the whole leaderboard (`leaderboard.leaderboard_page`).
"""

from dataclasses import dataclass
from typing import NamedTuple

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from ladder.bots.models import Bot
from ladder.ratings.leaderboard import INTERVAL_95_SDS, is_settling
from ladder.ratings.models import Membership, Rating, Season

MAX_SEARCH_CHARS = 64


@dataclass(frozen=True, slots=True)
class BoardFilter:
    """Which rows are listed. `text` is a part of the name of a bot or of its owner.

    Without `withdrawn`, bots that their owners have withdrawn are left out.
    """

    text: str = ""
    language: str = ""
    withdrawn: bool = False

    @property
    def is_search(self) -> bool:
        """True if rows are left out of which the order of the others tells nothing."""
        return bool(self.text or self.language)


class RankedRow(NamedTuple):
    """One bot on the page of a leaderboard.

    `position` counts the rows of the whole leaderboard from 1; bots with equal ratings
    share a rank, but no position. `place` is the status on the ladder.
    """

    bot_id: int
    bot: str
    name: str
    house: bool
    owner: str | None
    bot_status: str
    place: str | None
    language: str
    mu: float
    sigma: float
    rating: float
    games: int
    forfeits: int
    fresh: int
    better: int
    equal_before: int

    @property
    def rank(self) -> int:
        return self.better + 1

    @property
    def position(self) -> int:
        return self.better + self.equal_before + 1

    @property
    def status(self) -> str:
        """Return the status of the bot; if that is active, that on the ladder."""
        if self.bot_status == Bot.Status.ACTIVE and self.place is not None:
            return self.place
        return self.bot_status

    @property
    def low(self) -> float:
        """Return the lower end of the 95 % interval of μ."""
        return self.mu - INTERVAL_95_SDS * self.sigma

    @property
    def high(self) -> float:
        """Return the upper end of the 95 % interval of μ."""
        return self.mu + INTERVAL_95_SDS * self.sigma

    @property
    def settling(self) -> bool:
        return is_settling(self.fresh)


@dataclass(frozen=True, slots=True)
class RankedPage:
    """Some rows; `total` counts all that the filter lists, `hidden` withdrawn bots."""

    rows: list[RankedRow]
    total: int
    hidden: int


COLUMNS = (
    "bot",
    "bot__slug",
    "bot__name",
    "bot__house",
    "bot__owner__username",
    "bot__status",
    "place",
    "submission__language",
    "mu",
    "sigma",
    "rating",
    "games",
    "forfeits",
    "fresh",
    "better",
    "equal_before",
)


def ranked_page(
    season: Season, chosen: BoardFilter, start: int, length: int
) -> RankedPage:
    """Return `length` of the chosen rows from index `start` on, best first."""
    rated = Rating.objects.filter(season=season)
    listed = _chosen(rated, chosen)
    same_season = Rating.objects.filter(season=season).order_by()
    equal = same_season.filter(rating=OuterRef("rating"), bot__lt=OuterRef("bot"))
    members = Membership.objects.filter(ladder=season.ladder_id, bot=OuterRef("bot"))
    ordered = listed.annotate(
        place=Subquery(members.values("status")),
        better=_count(same_season.filter(rating__gt=OuterRef("rating"))),
        equal_before=_count(equal),
    ).order_by("-rating", "bot")
    rows = ordered.values_list(*COLUMNS)[start : start + length]
    hidden = 0
    if not chosen.withdrawn:
        hidden = rated.filter(bot__status=Bot.Status.WITHDRAWN).count()
    return RankedPage([RankedRow._make(row) for row in rows], listed.count(), hidden)


def _chosen(rated: QuerySet[Rating], chosen: BoardFilter) -> QuerySet[Rating]:
    if not chosen.withdrawn:
        rated = rated.exclude(bot__status=Bot.Status.WITHDRAWN)
    if chosen.language:
        rated = rated.filter(submission__language=chosen.language)
    text = chosen.text[:MAX_SEARCH_CHARS]
    if text:
        by_owner = Q(bot__house=False, bot__owner__username__icontains=text)
        rated = rated.filter(Q(bot__name__icontains=text) | by_owner)
    return rated


def _count(rows: QuerySet[Rating]) -> Coalesce:
    counted = rows.values("season").annotate(n=Count("pk")).values("n")
    return Coalesce(Subquery(counted), 0)
