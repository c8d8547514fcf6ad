"""Parts of a leaderboard: a search, a language, or without withdrawn bots. Reads only.

The rank of a row is that on the whole leaderboard, whatever else is listed. The pages
show these rows. The API shows the whole leaderboard (`leaderboard.leaderboard_page`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery

from ladder.bots.models import Bot
from ladder.ratings.leaderboard import is_settling
from ladder.ratings.models import Membership, Rating, Season

MAX_SEARCH_CHARS = 64


@dataclass(frozen=True, slots=True)
class BoardFilter:
    """Which rows are listed. `text` is a part of the name of a bot or of its owner.

    Without `withdrawn`, bots that their owners have withdrawn are left out. With
    `figures`, the page shows all figures and not only the most important ones.
    """

    text: str = ""
    language: str = ""
    withdrawn: bool = False
    figures: bool = False

    @property
    def is_search(self) -> bool:
        """True if rows are left out whose positions the other rows do not show."""
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
)


class _Place(NamedTuple):
    """The numbers of bots rated higher than a bot, and equally but listed before it."""

    better: int
    equal_before: int


def ranked_page(
    season: Season, chosen: BoardFilter, start: int, length: int
) -> RankedPage:
    """Return `length` of the chosen rows from index `start` on, best first.

    1. Find the rows, and join only to these what is shown of them.
    2. Count the bots that are rated higher than the first of them.
    3. Go down the whole leaderboard from the first to the last, to number them.
    """
    rated = Rating.objects.filter(season=season).order_by("-rating", "bot")
    listed = _chosen(rated, chosen)
    part = listed.values("pk")[start : start + length]
    members = Membership.objects.filter(ladder=season.ladder_id, bot=OuterRef("bot"))
    shown = rated.filter(pk__in=part).annotate(place=Subquery(members.values("status")))
    rows = list(shown.values_list(*COLUMNS))
    first, last = (rows[0][_RATING], rows[-1][_RATING]) if rows else (0.0, 0.0)
    counts = rated.order_by().aggregate(
        all=Count("pk"),
        better=Count("pk", Q(rating__gt=first)),
        withdrawn=Count("pk", Q(bot__in=_WITHDRAWN)),
    )
    hidden = 0 if chosen.withdrawn else counts["withdrawn"]
    total = listed.count() if chosen.is_search else counts["all"] - hidden
    between = rated.filter(rating__lte=first, rating__gte=last)
    ratings = dict(between.order_by().values_list("bot", "rating"))
    # A game may have been rated since the rows were read. They keep what they show.
    ratings |= {row[0]: row[_RATING] for row in rows}
    places = _places(counts["better"], ratings)
    return RankedPage(
        [RankedRow._make((*row, *places[row[0]])) for row in rows], total, hidden
    )


_RATING = COLUMNS.index("rating")
_WITHDRAWN = Bot.objects.filter(status=Bot.Status.WITHDRAWN)


def _places(better: int, ratings: Mapping[int, float]) -> dict[int, _Place]:
    """Return the places of these bots, the first of which has `better` before it."""
    places = {}
    above = None
    ordered = sorted((-rating, bot) for bot, rating in ratings.items())
    for position, (negative, bot) in enumerate(ordered, start=better):
        if negative != above:
            better = position
            above = negative
        places[bot] = _Place(better, position - better)
    return places


def _chosen(rated: QuerySet[Rating], chosen: BoardFilter) -> QuerySet[Rating]:
    if not chosen.withdrawn:
        # Not by a join: it would be made for each row before the page, too.
        rated = rated.exclude(bot__in=_WITHDRAWN)
    if chosen.language:
        rated = rated.filter(submission__language=chosen.language)
    text = chosen.text[:MAX_SEARCH_CHARS]
    if text:
        by_owner = Q(bot__house=False, bot__owner__username__icontains=text)
        rated = rated.filter(Q(bot__name__icontains=text) | by_owner)
    return rated
