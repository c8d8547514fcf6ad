"""The leaderboard, and what it says of one bot or of two.

Whole tables are kept as they were rendered: for two seconds a leaderboard, and for half
a minute what is said of all games of a bot.
"""

from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.core.cache import cache
from django.template.loader import render_to_string

from ladder.bots.models import Bot
from ladder.games.models import MAX_SEATS
from ladder.ratings import leaderboard as ratings, statistics
from ladder.ratings.models import Ladder, Rating, Season
from ladder.web.charts import Chart, chart

ROWS = 50
FRESH = 2
"""A leaderboard may be so many seconds old, here as in the API."""
KEEP = 30
"""So many seconds, what is said of all games of a bot: it takes to read them all."""
MOST_MET = 20
"""So many opponents are listed on a bot's page."""


@dataclass(frozen=True, slots=True)
class LadderStanding:
    """A bot on one ladder."""

    ladder: Ladder
    record: dict[str, Any]
    seats: list[dict[str, Any]]
    opponents: list[dict[str, Any]]
    chart: Chart | None


def default_ladder() -> Ladder | None:
    return ratings.ladders().order_by("-default", "id").first()


def board(ladder: Ladder, season: Season | None, page: int) -> dict[str, Any]:
    """Return a page of a season's leaderboard; `table` is ready to be shown."""
    if season is None:
        return {"ladder": ladder, "total": 0}
    key = f"board:{season.pk}:{season.status}:{page}"
    kept: dict[str, Any] | None = cache.get(key)
    if kept is None:
        kept = _board(season, page)
        cache.set(key, kept, FRESH)
    others = [other for other in ladder.seasons.all() if other != season]
    return kept | {"ladder": ladder, "season": season, "page": page, "others": others}


def _board(season: Season, page: int) -> dict[str, Any]:
    start = (page - 1) * ROWS
    part = ratings.leaderboard(season, start, ROWS)
    rows = _with_bars(_with_trends(season, part.rows))
    bands = _in_bands(season, start, rows)
    context = {"bands": bands, "ladder": season.ladder, "page": page}
    return {
        "table": render_to_string("web/_board.html", context),
        "total": part.total,
        "previous": page - 1 if page > 1 else None,
        "next": page + 1 if start + ROWS < part.total else None,
    }


def _with_trends(season: Season, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    found = Rating.objects.filter(
        season=season, bot__slug__in=[row["bot"] for row in rows]
    ).select_related("bot")
    trends = {rating.bot.slug: statistics.trend(season, rating) for rating in found}
    for row in rows:
        row["trend"] = trends.get(row["bot"])
    return rows


def _with_bars(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add each interval in percent of the page's whole range."""
    if not rows:
        return rows
    low = min(row["low"] for row in rows)
    span = max(row["high"] for row in rows) - low or 1.0
    for row in rows:
        row["bar"] = {
            key: round(2 + 96 * (row[key] - low) / span, 1)
            for key in ("low", "mu", "high")
        }
    return rows


def _in_bands(
    season: Season, start: int, rows: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Group the rows by the bands in which their places are."""
    if not rows:
        return []
    bands = statistics.bands(season, start + 1, start + len(rows))
    places = {k: band for band in bands for k in range(band["first"], band["last"] + 1)}
    numbered = enumerate(rows, start=start + 1)
    return [
        {"band": band, "rows": [row for _, row in group]}
        for band, group in groupby(numbered, lambda item: places.get(item[0]))
    ]


def standings(bot: Bot) -> list[LadderStanding]:
    """Return what each ladder's present season says of a bot."""
    rows = Rating.objects.filter(bot=bot).exclude(season__status=Season.Status.ARCHIVED)
    return [
        _standing(rating) for rating in rows.select_related("season__ladder", "bot")
    ]


def _standing(rating: Rating) -> LadderStanding:
    season = rating.season
    facts = _facts(season, rating)
    return LadderStanding(
        ladder=season.ladder,
        record=statistics.numbers(season, rating),
        seats=_by_players(facts["strength"]),
        opponents=facts["opponents"],
        chart=chart(ratings.history(season, rating.bot)),
    )


def _facts(season: Season, rating: Rating) -> dict[str, Any]:
    """Keep what takes all games of a bot to say."""
    key = f"facts:{season.pk}:{rating.bot_id}"
    kept: dict[str, Any] | None = cache.get(key)
    if kept is None:
        kept = {
            "strength": statistics.strength(season, rating.bot),
            "opponents": _named(statistics.opponents(season, rating)[:MOST_MET]),
        }
        cache.set(key, kept, KEEP)
    return kept


def _named(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    bots = Bot.objects.filter(slug__in=[row["other"] for row in rows])
    names = dict(bots.values_list("slug", "name"))
    return [row | {"name": names.get(row["other"], row["other"])} for row in rows]


def _by_players(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Lay strength out as a row for each number of players, a cell for each seat."""
    rows = []
    for players, group in groupby(cells, lambda cell: cell["players"]):
        seats = {cell["seat"]: cell for cell in group}
        row = [seats.get(seat) for seat in range(MAX_SEATS)]
        rows.append({"players": players, "seats": row})
    return rows


def meeting(season: Season, slugs: tuple[str, str]) -> dict[str, Any]:
    """Say which of two bots is better, and what their games together say.

    `missing` names those that are not rated here; then there is nothing else.
    """
    there = season.ratings.filter(bot__slug__in=slugs).select_related("bot")
    found = {rating.bot.slug: rating for rating in there}
    if missing := [slug for slug in slugs if slug not in found]:
        return {"missing": missing}
    one, other = (found[slug] for slug in slugs)
    told = statistics.meeting(season, one, other)
    records = [
        statistics.numbers(season, each) | {"name": each.bot.name}
        for each in (one, other)
    ]
    after = told["games"] - told["before"] - told["ties"]
    return told | {
        "bots": [one.bot, other.bot],
        "records": records,
        "after": after,
        "width": round(100 * told["better"], 1),
        "sure": max(told["better"], 1 - told["better"]) >= statistics.CERTAIN,
    }
