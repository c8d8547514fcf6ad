"""What of ladders and ratings is shown: leaderboards, and a bot's history."""

import math
from dataclasses import dataclass
from typing import Any

from django.db.models import Prefetch, Q, QuerySet

from ladder.bots.models import Bot
from ladder.ratings.models import Entry, Ladder, Rating, Season

CERTAIN = 1.645
"""So many standard deviations apart, the better one is better with 95 %."""
INTERVAL = 1.96
HISTORY = 500
COLUMNS = (
    "bot__slug",
    "bot__name",
    "bot__house",
    "bot__status",
    "submission__number",
    "mu",
    "sigma",
    "rating",
    "games",
    "forfeits",
    "fresh",
)
SETTLING = 20
"""With fewer games of its present code a rating still settles."""


def ladders() -> QuerySet[Ladder]:
    """Every ladder with its seasons, the newest season first."""
    seasons = Season.objects.order_by("-number")
    return Ladder.objects.prefetch_related(Prefetch("seasons", seasons)).order_by("id")


def current(ladder: Ladder) -> Season | None:
    """Return the newest season of a ladder that came from `ladders`."""
    return next(iter(ladder.seasons.all()), None)


@dataclass(frozen=True, slots=True)
class LeaderboardPage:
    """A part of a leaderboard; `total` counts all of it."""

    rows: list[dict[str, Any]]
    total: int


def leaderboard(season: Season, start: int, length: int) -> LeaderboardPage:
    """Return the rows from `start` (0 is the best), best first.

    Read as plain tuples: building objects of 50 rows costs more than the query.
    """
    ratings = Rating.objects.filter(season=season)
    ordered = ratings.order_by("-rating", "bot").values_list(*COLUMNS)
    before = 1 if start else 0
    found = list(ordered[start - before : start + length])
    rows: list[dict[str, Any]] = []
    above = found[0] if before and found else None
    rank = _first_rank(ratings, above) if above else 0
    for place, row in enumerate(found[before:], start=start + 1):
        if above is None or above[7] != row[7]:
            rank = place
        rows.append(_row(rank, row, above))
        above = row
    return LeaderboardPage(rows, ratings.count())


def _first_rank(ratings: QuerySet[Rating], above: tuple[Any, ...]) -> int:
    return ratings.filter(rating__gt=above[7]).count() + 1


def rank(season: Season, rating: Rating) -> int:
    """Return a bot's place on the leaderboard; equal ones share the better one."""
    better = Rating.objects.filter(season=season, rating__gt=rating.rating)
    return better.count() + 1


def _row(
    rank: int, row: tuple[Any, ...], above: tuple[Any, ...] | None
) -> dict[str, Any]:
    slug, name, house, status, number, mu, sigma, rating, games, forfeits, fresh = row
    return {
        "rank": rank,
        "bot": slug,
        "name": name,
        "house": house,
        "status": status,
        "submission": number,
        "mu": mu,
        "sigma": sigma,
        "rating": rating,
        "low": mu - INTERVAL * sigma,
        "high": mu + INTERVAL * sigma,
        "tied_with_above": above is not None
        and abs(above[5] - mu) < CERTAIN * math.hypot(above[6], sigma),
        "games": games,
        "forfeits": forfeits,
        "settling": fresh < SETTLING,
    }


def history(season: Season, bot: Bot) -> list[dict[str, Any]]:
    """Return a bot's rating after each entry that moved it, oldest first.

    `submission` marks where it went on with another upload, by its number.
    """
    marks = dict(bot.submissions.values_list("pk", "number"))
    entries = (
        Entry.objects.filter(season=season)
        .filter(Q(bot=bot) | Q(game__seats__submission__bot=bot) | Q(kind="void"))
        .order_by("-seq")
        .distinct()[:HISTORY]
    )
    points: list[dict[str, Any]] = []
    now: list[float] | None = None
    for entry in reversed(entries):
        moved = next((c["after"] for c in entry.changes if c["bot"] == bot.pk), now)
        # A new upload is marked even where it moved nothing.
        if moved is not None and (moved is not now or entry.bot_id == bot.pk):
            points.append(_point(entry, moved, marks))
        now = moved
    return points


def _point(entry: Entry, moved: list[float], marks: dict[int, int]) -> dict[str, Any]:
    mu, sigma = moved
    return {
        "seq": entry.seq,
        "kind": entry.kind,
        "game": entry.game_id,
        "submission": marks.get(entry.inputs.get("submission", 0)),
        "mu": mu,
        "sigma": sigma,
        "rating": mu - 3 * sigma,
    }
