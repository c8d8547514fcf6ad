"""The leaderboard, and what it says of one bot or of two.

Whole tables are kept as they were rendered: for two seconds a leaderboard, and for half
a minute what is said of all games of a bot.
"""

from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any

from django.core.cache import cache
from django.template.loader import render_to_string

from ladder.bots.models import Bot
from ladder.games.models import MAX_SEATS
from ladder.ratings import leaderboard as ratings, statistics
from ladder.ratings.leaderboard import LeaderboardRow
from ladder.ratings.models import Ladder, Rating, Season
from ladder.ratings.statistics import Meeting, RatingSummary, SeatStrength, TieBand
from ladder.web.charts import Chart, chart

ROWS = 50
FRESH = 2
"""A leaderboard may be so many seconds old, here as in the API."""
KEEP = 30
"""So many seconds, what is said of all games of a bot: it takes to read them all."""
MOST_MET = 20
"""So many opponents are listed on a bot's page."""


@dataclass(frozen=True, slots=True)
class IntervalBar:
    """The 95 % interval of μ, in percent of the range of all rows of the page."""

    low: float
    mu: float
    high: float


@dataclass(frozen=True, slots=True)
class BoardRow:
    """A row of the leaderboard, with what only the page shows."""

    row: LeaderboardRow
    trend: float | None
    bar: IntervalBar


@dataclass(frozen=True, slots=True)
class BoardBand:
    """The rows of one page that belong to the same tie band."""

    band: TieBand | None
    rows: list[BoardRow]


@dataclass(frozen=True, slots=True)
class StrengthRow:
    """A bot's strength by seat in games with this number of players."""

    players: int
    seats: list[SeatStrength | None]


@dataclass(frozen=True, slots=True)
class LadderStanding:
    """A bot on one ladder."""

    ladder: Ladder
    record: RatingSummary
    seats: list[StrengthRow]
    opponents: list[Meeting]
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
    part = ratings.leaderboard_page(season, start, ROWS)
    rows = _board_rows(season, part.rows)
    bands = _in_bands(season, start, rows)
    context = {"bands": bands, "ladder": season.ladder, "page": page}
    return {
        "table": render_to_string("web/_board.html", context),
        "total": part.total,
        "previous": page - 1 if page > 1 else None,
        "next": page + 1 if start + ROWS < part.total else None,
    }


def _board_rows(season: Season, rows: list[LeaderboardRow]) -> list[BoardRow]:
    """Add each bot's trend, and its interval in percent of the page's whole range."""
    if not rows:
        return []
    slugs = [row.bot for row in rows]
    rated = Rating.objects.filter(season=season, bot__slug__in=slugs)
    trends = {
        rating.bot.slug: statistics.trend(season, rating)
        for rating in rated.select_related("bot")
    }
    low = min(row.low for row in rows)
    span = max(row.high for row in rows) - low or 1.0

    def percent(value: float) -> float:
        return round(2 + 96 * (value - low) / span, 1)

    return [
        BoardRow(
            row,
            trends.get(row.bot),
            IntervalBar(percent(row.low), percent(row.mu), percent(row.high)),
        )
        for row in rows
    ]


def _in_bands(season: Season, start: int, rows: list[BoardRow]) -> list[BoardBand]:
    """Group the rows by the tie bands to which their positions belong."""
    if not rows:
        return []
    bands = statistics.bands(season, start + 1, start + len(rows))
    band_at = {k: band for band in bands for k in range(band.first, band.last + 1)}
    numbered = enumerate(rows, start=start + 1)
    return [
        BoardBand(band, [row for _, row in group])
        for band, group in groupby(numbered, lambda item: band_at.get(item[0]))
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
        record=statistics.summary(season, rating),
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
            "opponents": statistics.opponents(season, rating)[:MOST_MET],
        }
        cache.set(key, kept, KEEP)
    return kept


def _by_players(cells: list[SeatStrength]) -> list[StrengthRow]:
    """Lay strength out as a row for each number of players, a cell for each seat."""
    rows = []
    for players, group in groupby(cells, lambda cell: cell.players):
        cell_at = {cell.seat: cell for cell in group}
        seats = [cell_at.get(seat) for seat in range(MAX_SEATS)]
        rows.append(StrengthRow(players, seats))
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
    facts = statistics.meeting(season, one, other)
    return asdict(facts) | {
        "bots": [one.bot, other.bot],
        "records": [statistics.summary(season, each) for each in (one, other)],
        "after": facts.games - facts.before - facts.ties,
        "width": round(100 * facts.better, 1),
        "sure": max(facts.better, 1 - facts.better) >= statistics.CONFIDENCE,
    }
