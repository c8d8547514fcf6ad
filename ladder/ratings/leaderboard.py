"""Leaderboards of seasons, and the history of a bot's rating. Reads only."""

import math
from dataclasses import dataclass
from typing import NamedTuple

from django.db.models import Exists, OuterRef, Prefetch, QuerySet

from ladder.bots.models import Bot
from ladder.common.fixed_query import preparing_cursor
from ladder.ratings.models import (
    Entry,
    Ladder,
    Rating,
    RatingPoint,
    Season,
)
from torres.rating.pool import NEWCOMER_GAMES
from torres.rating.trueskill import Skill

ONE_SIDED_95_SDS = 1.645
"""Standard deviations of a difference from which its sign is sure with 95 %."""
INTERVAL_95_SDS = 1.96
"""Standard deviations on each side of a mean that make its 95 % interval."""
MAX_HISTORY_ENTRIES = 500


class _RatingColumns(NamedTuple):
    """The columns of one rating, in the order of `_PAGE`."""

    slug: str
    name: str
    house: bool
    status: str
    place: str | None
    submission: int
    mu: float
    sigma: float
    rating: float
    games: int
    forfeits: int
    fresh: int


# To compose these with the ORM costs more than to run them.
_NEWEST_SEASON = """
    SELECT season.* FROM ratings_season season
    JOIN ratings_ladder ladder ON ladder.id = season.ladder_id
    WHERE ladder.slug = %s ORDER BY season.number DESC LIMIT 1
"""
# The inner query finds the rows by the index of the leaderboard. So the tables are
# joined for the rows that are shown, and not for those above them.
_PAGE = """
    SELECT bot.slug, bot.name, bot.house, bot.status, member.status, submission.number,
        part.mu, part.sigma, part.rating, part.games, part.forfeits, part.fresh
    FROM (
        SELECT * FROM ratings_rating WHERE season_id = %s
        ORDER BY rating DESC, bot_id LIMIT %s OFFSET %s
    ) part
    JOIN bots_bot bot ON bot.id = part.bot_id
    JOIN bots_submission submission ON submission.id = part.submission_id
    LEFT JOIN ratings_membership member
        ON member.bot_id = part.bot_id AND member.ladder_id = %s
    ORDER BY part.rating DESC, part.bot_id
"""
_COUNT = "SELECT COUNT(*) FROM ratings_rating WHERE season_id = %s"
_COUNT_BETTER = f"{_COUNT} AND rating > %s"


@dataclass(frozen=True, slots=True)
class LeaderboardRow:
    """One bot on a leaderboard. `low` and `high` are the 95 % interval of μ.

    `bot` is a slug. `status` is that of the bot; if that is active, it is the status on
    the ladder. `tied_with_above` is true if the bot cannot be told apart from the row
    above with 95 %, and `settling` if its code changed a short time ago.
    """

    rank: int
    bot: str
    name: str
    house: bool
    status: str
    submission: int
    mu: float
    sigma: float
    rating: float
    low: float
    high: float
    tied_with_above: bool
    games: int
    forfeits: int
    settling: bool


@dataclass(frozen=True, slots=True)
class LeaderboardPage:
    """A part of a leaderboard; `total` counts the rows of the whole."""

    rows: list[LeaderboardRow]
    total: int


@dataclass(frozen=True, slots=True)
class HistoryPoint:
    """A bot's rating after one entry of the ledger. `season` is the season's number.

    `submission` is the number of the upload with which the bot joined or continued at
    this entry; it is None for all other entries.
    """

    season: int
    seq: int
    kind: str
    game: int | None
    submission: int | None
    mu: float
    sigma: float
    rating: float


@dataclass(frozen=True, slots=True)
class EarlierPoints:
    """The place of the points before a part of a history: in `season`, below `seq`.

    `seq` is None for the end of the season.
    """

    season: int
    seq: int | None


def ladders() -> QuerySet[Ladder]:
    """Return all ladders with their seasons, the newest season first."""
    seasons = Season.objects.order_by("-number")
    return Ladder.objects.prefetch_related(Prefetch("seasons", seasons)).order_by("id")


def current(ladder: Ladder) -> Season | None:
    """Return the newest season of a ladder that `ladders` returned."""
    return next(iter(ladder.seasons.all()), None)


def newest_season(slug: str) -> Season | None:
    """Return the newest season of the ladder with this slug; None if it has none."""
    return next(iter(Season.objects.raw(_NEWEST_SEASON, [slug])), None)


def is_settling(fresh: int) -> bool:
    """True if a bot has played few games since its code changed last."""
    return fresh < NEWCOMER_GAMES


def leaderboard_page(season: Season, start: int, length: int) -> LeaderboardPage:
    """Return `length` rows from index `start` on (0 is the best), best first.

    Equal ratings share the better rank. The page reads one row more, above its first
    one, to compare with. Rows are read as tuples, because building 50 model objects
    costs more than the query.
    """
    first = max(start - 1, 0)
    above = None
    rank = 0
    with preparing_cursor() as cursor:
        page = (season.pk, start + length - first, first, season.ladder_id)
        cursor.execute(_PAGE, page)
        columns = [_RatingColumns._make(row) for row in cursor.fetchall()]
        if start and columns:
            above = columns.pop(0)
            cursor.execute(_COUNT_BETTER, (season.pk, above.rating))
            rank = cursor.fetchone()[0] + 1
        cursor.execute(_COUNT, (season.pk,))
        total = cursor.fetchone()[0]
    rows: list[LeaderboardRow] = []
    for position, row in enumerate(columns, start=start + 1):
        if above is None or above.rating != row.rating:
            rank = position
        rows.append(_leaderboard_row(rank, row, above))
        above = row
    return LeaderboardPage(rows, total)


def rank(season: Season, rating: Rating) -> int:
    """Return a bot's rank on the leaderboard; equal ratings share the better rank."""
    better = Rating.objects.filter(season=season, rating__gt=rating.rating)
    return better.count() + 1


def _leaderboard_row(
    rank: int, row: _RatingColumns, above: _RatingColumns | None
) -> LeaderboardRow:
    return LeaderboardRow(
        rank=rank,
        bot=row.slug,
        name=row.name,
        house=bool(row.house),  # SQLite has no booleans
        status=_shown_status(row),
        submission=row.submission,
        mu=row.mu,
        sigma=row.sigma,
        rating=row.rating,
        low=row.mu - INTERVAL_95_SDS * row.sigma,
        high=row.mu + INTERVAL_95_SDS * row.sigma,
        tied_with_above=above is not None
        and are_tied(Skill(above.mu, above.sigma), Skill(row.mu, row.sigma)),
        games=row.games,
        forfeits=row.forfeits,
        settling=is_settling(row.fresh),
    )


def _shown_status(row: _RatingColumns) -> str:
    if row.status == Bot.Status.ACTIVE and row.place is not None:
        return row.place
    return row.status


def are_tied(one: Skill, other: Skill) -> bool:
    """True if neither bot is the better one with 95 %."""
    difference = abs(one.mu - other.mu)
    return difference < ONE_SIDED_95_SDS * math.hypot(one.sigma, other.sigma)


def history(season: Season, bot: Bot, before: int | None = None) -> list[HistoryPoint]:
    """Return a bot's rating after each entry that concerns it, oldest first.

    Only the latest `MAX_HISTORY_ENTRIES` are returned; with `before` only entries with
    a smaller number count. `earlier_points` says whether there are more.
    """
    points = RatingPoint.objects.filter(season=season, bot=bot).order_by("-seq")
    if before is not None:
        points = points.filter(seq__lt=before)
    latest = list(points[:MAX_HISTORY_ENTRIES])[::-1]
    if not latest:
        return []
    uploads = _uploads(season, bot, latest[0].seq)
    return [
        HistoryPoint(
            season=season.number,
            seq=point.seq,
            kind=point.kind,
            game=point.game,
            submission=uploads.get(point.seq),
            mu=point.mu,
            sigma=point.sigma,
            rating=Skill(point.mu, point.sigma).shown_rating,
        )
        for point in latest
    ]


def earlier_points(
    season: Season, bot: Bot, points: list[HistoryPoint]
) -> EarlierPoints | None:
    """Return the place of the points before `points`; None if there are none.

    Before the first point of a season come those of the season before.
    """
    own = RatingPoint.objects.filter(season=season, bot=bot)
    if points and own.filter(seq__lt=points[0].seq).exists():
        return EarlierPoints(season.number, points[0].seq)
    rated = RatingPoint.objects.filter(season=OuterRef("pk"), bot=bot)
    seasons = Season.objects.filter(
        Exists(rated), ladder=season.ladder_id, number__lt=season.number
    )
    number = seasons.order_by("-number").values_list("number", flat=True).first()
    return None if number is None else EarlierPoints(number, None)


def _uploads(season: Season, bot: Bot, first: int) -> dict[int, int]:
    """Return the numbers of the uploads that began to play, by entry."""
    numbers = dict(bot.submissions.values_list("pk", "number"))
    entries = Entry.objects.filter(season=season, bot=bot, seq__gte=first)
    return {
        seq: numbers[inputs["submission"]]
        for seq, inputs in entries.values_list("seq", "inputs")
        if inputs.get("submission") in numbers
    }
