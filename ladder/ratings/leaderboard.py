"""Leaderboards of seasons, and the history of a bot's rating. Reads only."""

import math
from dataclasses import dataclass
from typing import NamedTuple

from django.db.models import Prefetch, Q, QuerySet

from ladder.bots.models import Bot
from ladder.ratings.core.ledger import EntryKind
from ladder.ratings.core.pairing import NEWCOMER_GAMES
from ladder.ratings.core.trueskill import Skill
from ladder.ratings.models import Entry, Ladder, Rating, Season

ONE_SIDED_95_SDS = 1.645
"""Standard deviations of a difference from which its sign is sure with 95 %."""
INTERVAL_95_SDS = 1.96
"""Standard deviations on each side of a mean that make its 95 % interval."""
MAX_HISTORY_ENTRIES = 500


class _RatingColumns(NamedTuple):
    """The columns of one rating, in the order of `COLUMNS`."""

    slug: str
    name: str
    house: bool
    status: str
    submission: int
    mu: float
    sigma: float
    rating: float
    games: int
    forfeits: int
    fresh: int


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


@dataclass(frozen=True, slots=True)
class LeaderboardRow:
    """One bot on a leaderboard. `low` and `high` are the 95 % interval of μ.

    `bot` is a slug. `tied_with_above` is true if the bot cannot be told apart from the
    row above with 95 %, and `settling` if its code changed a short time ago.
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
    """A bot's rating after one entry of the ledger.

    `submission` is the number of the upload with which the bot joined or continued at
    this entry; it is None for all other entries.
    """

    seq: int
    kind: str
    game: int | None
    submission: int | None
    mu: float
    sigma: float
    rating: float


def ladders() -> QuerySet[Ladder]:
    """Return all ladders with their seasons, the newest season first."""
    seasons = Season.objects.order_by("-number")
    return Ladder.objects.prefetch_related(Prefetch("seasons", seasons)).order_by("id")


def current(ladder: Ladder) -> Season | None:
    """Return the newest season of a ladder that `ladders` returned."""
    return next(iter(ladder.seasons.all()), None)


def is_settling(fresh: int) -> bool:
    """True if a bot has played few games since its code changed last."""
    return fresh < NEWCOMER_GAMES


def leaderboard_page(season: Season, start: int, length: int) -> LeaderboardPage:
    """Return `length` rows from index `start` on (0 is the best), best first.

    Equal ratings share the better rank. The page reads one row more, above its first
    one, to compare with. Rows are read as tuples, because building 50 model objects
    costs more than the query.
    """
    ratings = Rating.objects.filter(season=season)
    ordered = ratings.order_by("-rating", "bot").values_list(*COLUMNS)
    first = max(start - 1, 0)
    columns = [_RatingColumns._make(row) for row in ordered[first : start + length]]
    above = None
    rank = 0
    if start and columns:
        above = columns.pop(0)
        rank = ratings.filter(rating__gt=above.rating).count() + 1
    rows: list[LeaderboardRow] = []
    for position, row in enumerate(columns, start=start + 1):
        if above is None or above.rating != row.rating:
            rank = position
        rows.append(_leaderboard_row(rank, row, above))
        above = row
    return LeaderboardPage(rows, ratings.count())


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
        house=row.house,
        status=row.status,
        submission=row.submission,
        mu=row.mu,
        sigma=row.sigma,
        rating=row.rating,
        low=row.mu - INTERVAL_95_SDS * row.sigma,
        high=row.mu + INTERVAL_95_SDS * row.sigma,
        tied_with_above=above is not None and _are_tied(above, row),
        games=row.games,
        forfeits=row.forfeits,
        settling=is_settling(row.fresh),
    )


def _are_tied(one: _RatingColumns, other: _RatingColumns) -> bool:
    """True if neither bot is the better one with 95 %."""
    difference = abs(one.mu - other.mu)
    return difference < ONE_SIDED_95_SDS * math.hypot(one.sigma, other.sigma)


def history(season: Season, bot: Bot) -> list[HistoryPoint]:
    """Return a bot's rating after each entry that changed it, oldest first.

    1. Read the latest `MAX_HISTORY_ENTRIES` entries that may concern the bot: its joins
       and new versions, its games, and all voids.
    2. Leave out the entries that did not change the rating. An entry about the bot
       itself stays, so that each new upload is on the chart.
    """
    numbers = dict(bot.submissions.values_list("pk", "number"))
    entries = (
        Entry.objects.filter(season=season)
        .filter(
            Q(bot=bot) | Q(game__seats__submission__bot=bot) | Q(kind=EntryKind.VOID)
        )
        .order_by("-seq")
        .distinct()[:MAX_HISTORY_ENTRIES]
    )
    points: list[HistoryPoint] = []
    present: list[float] | None = None
    for entry in reversed(entries):
        after = next(
            (change["after"] for change in entry.changes if change["bot"] == bot.pk),
            present,
        )
        if after is not None and (after is not present or entry.bot_id == bot.pk):
            points.append(_history_point(entry, Skill(*after), numbers))
        present = after
    return points


def _history_point(entry: Entry, skill: Skill, numbers: dict[int, int]) -> HistoryPoint:
    return HistoryPoint(
        seq=entry.seq,
        kind=entry.kind,
        game=entry.game_id,
        submission=numbers.get(entry.inputs.get("submission", 0)),
        mu=skill.mu,
        sigma=skill.sigma,
        rating=skill.shown_rating,
    )
