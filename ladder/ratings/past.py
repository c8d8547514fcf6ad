"""Leaderboards at a past moment, from the points of the ratings. Reads only.

Each entry of the ledger that changes a bot has a point (`RatingPoint`), which never
changes later: a void adds entries of its own. So the leaderboard at a moment has the
last point of each bot before it, and is what the page showed then.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from django.db.models import OuterRef, QuerySet, Subquery

from ladder.bots.models import Bot
from ladder.ratings.core.ledger import EntryKind
from ladder.ratings.core.trueskill import Skill
from ladder.ratings.leaderboard import INTERVAL_95_SDS, are_tied
from ladder.ratings.models import Entry, Rating, RatingPoint, Season


@dataclass(frozen=True, slots=True)
class PastRow:
    """One bot on a past leaderboard, as in `leaderboard.LeaderboardRow`.

    The ledger's points hold the skills only, so the other numbers are None.
    """

    rank: int
    bot: str
    name: str
    house: bool
    mu: float
    sigma: float
    rating: float
    low: float
    high: float
    tied_with_above: bool
    status: None = None
    submission: None = None
    games: None = None
    forfeits: None = None
    settling: None = None


@dataclass(frozen=True, slots=True)
class PastPage:
    """A part of a past leaderboard; `total` counts the rows of the whole."""

    rows: list[PastRow]
    total: int


class _PastRating(NamedTuple):
    bot: int
    skill: Skill

    @property
    def rating(self) -> float:
        return self.skill.shown_rating


def season_at(ladder: str, moment: datetime) -> Season | None:
    """Return the season that a ladder played at a moment; None before the first."""
    begun = Season.objects.filter(ladder__slug=ladder, started_at__lte=moment)
    return begun.order_by("-number").first()


def last_entry(season: Season, moment: datetime) -> int:
    """Return the number of the last entry up to a moment; 0 if there is none.

    Entries are appended in the order of time, so that bisection needs a query for
    each bit of the number of entries.
    """
    low, high = 0, season.head
    entries = Entry.objects.filter(season=season)
    while low < high:
        middle = (low + high + 1) // 2
        if entries.filter(seq=middle, created_at__lte=moment).exists():
            low = middle
        else:
            high = middle - 1
    return low


def past_page(season: Season, seq: int, start: int, length: int) -> PastPage:
    """Return rows of the leaderboard after entry `seq`, as `leaderboard_page` does."""
    ratings = sorted(_ratings(season, seq), key=lambda row: (-row.rating, row.bot))
    page = ratings[start : start + length]
    bots = Bot.objects.in_bulk([row.bot for row in page])
    rows: list[PastRow] = []
    first = _first_with_equal_rating(ratings, start)
    for position, row in enumerate(page, start=start):
        if ratings[first].rating != row.rating:
            first = position
        above = ratings[position - 1] if position else None
        rows.append(_row(first + 1, bots[row.bot], row, above))
    return PastPage(rows, len(ratings))


def _first_with_equal_rating(ratings: list[_PastRating], start: int) -> int:
    """Return the index of the first rating that is equal to that at `start`."""
    first = start
    if start < len(ratings):
        while first and ratings[first - 1].rating == ratings[start].rating:
            first -= 1
    return first


def _row(rank: int, bot: Bot, row: _PastRating, above: _PastRating | None) -> PastRow:
    mu, sigma = row.skill.mu, row.skill.sigma
    return PastRow(
        rank=rank,
        bot=bot.slug,
        name=bot.name,
        house=bot.house,
        mu=mu,
        sigma=sigma,
        rating=row.rating,
        low=mu - INTERVAL_95_SDS * sigma,
        high=mu + INTERVAL_95_SDS * sigma,
        tied_with_above=above is not None and are_tied(above.skill, row.skill),
    )


def _ratings(season: Season, seq: int) -> list[_PastRating]:
    """Return the skills after entry `seq` of all bots that were rated then."""
    rated = Rating.objects.filter(season=season).values("bot")
    bots = Bot.objects.filter(pk__in=rated)
    if gone := _merged_later(season, seq):
        bots = bots | Bot.objects.filter(pk__in=gone)
    points = RatingPoint.objects.filter(
        season=season, bot=OuterRef("pk"), seq__lte=seq
    ).order_by("-seq")
    rows: QuerySet[Bot, tuple[int, float | None, float | None]] = bots.annotate(
        mu=Subquery(points.values("mu")[:1]), sigma=Subquery(points.values("sigma")[:1])
    ).values_list("pk", "mu", "sigma")
    return [
        _PastRating(bot, Skill(mu, sigma))
        for bot, mu, sigma in rows
        if mu is not None and sigma is not None
    ]


def _merged_later(season: Season, seq: int) -> list[int]:
    """Return the bots that had a rating of their own until a later merge."""
    merges = Entry.objects.filter(season=season, kind=EntryKind.MERGE, seq__gt=seq)
    return [inputs["gone"] for inputs in merges.values_list("inputs", flat=True)]
