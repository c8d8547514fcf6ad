"""Leaderboards of seasons, and the history of a bot's rating. Reads only."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from django.db.models import Exists, OuterRef, Prefetch, QuerySet, Subquery

from ladder.bots.models import Bot
from ladder.ratings.models import (
    Entry,
    Ladder,
    Membership,
    Rating,
    RatingPoint,
    Season,
)
from torres.rating.joint_claims import INTERVAL_95_SDS
from torres.rating.pool import NEWCOMER_GAMES
from torres.rating.trueskill import Skill

ONE_SIDED_95_SDS = 1.645
"""Standard deviations of a difference from which its sign is sure with 95 %."""
MAX_HISTORY_ENTRIES = 500
MAX_READS = 4
"""A page is read this often, until no entry is added meanwhile."""

T = TypeVar("T")

COLUMNS = (
    *("bot_id", "bot__slug", "bot__name", "bot__house", "bot__status", "place"),
    *("submission__number", "mu", "sigma", "rating", "games", "forfeits", "fresh"),
)


@dataclass(frozen=True, slots=True)
class JointEstimate:
    """The strength of a bot by the joint fit of all games of its season.

    `value` is in points above the house bots, and `low` to `high` its 95 % interval.
    `best` and `worst` are the ranks that the games do not exclude, with 95 % for all
    bots together. `games` counts the games of the bot's present submission.
    `weighted_rank` is the rank if copies share one vote.
    """

    value: float
    low: float
    high: float
    best: int
    worst: int
    games: int
    weighted_rank: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderboardRow:
    """One bot on a leaderboard. `low` and `high` are μ ± 1.96 σ of TrueSkill.

    `bot` is a slug, and `id` the bot's number in the public log. `status` is that of
    the bot; if that is active, it is the status on the ladder. `tied_with_above` is
    true if TrueSkill does not tell the bot apart from the row above with 95 %, and
    `settling` if its code changed a short time ago. `joint` is None until the bot's
    submission has played enough games. The ledger's changes hold the skills only, so on
    a past leaderboard the other numbers are None.
    """

    rank: int
    bot: str
    id: int
    name: str
    house: bool
    status: str | None = None
    submission: int | None = None
    mu: float
    sigma: float
    rating: float
    low: float
    high: float
    tied_with_above: bool
    games: int | None = None
    forfeits: int | None = None
    settling: bool | None = None
    joint: JointEstimate | None = None


@dataclass(frozen=True, slots=True)
class LeaderboardPage:
    """A part of a leaderboard; `total` counts the rows of the whole.

    The rows follow from the first `head` entries of the season. It is None if entries
    were added all the time while the rows were read.
    """

    rows: list[LeaderboardRow]
    total: int
    head: int | None = None


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
    return Season.objects.filter(ladder__slug=slug).order_by("-number").first()


def is_settling(fresh: int) -> bool:
    """True if a bot has played few games since its code changed last."""
    return fresh < NEWCOMER_GAMES


def leaderboard_page(season: Season, start: int, length: int) -> LeaderboardPage:
    """Return `length` rows from index `start` on (0 is the best), best first.

    Equal ratings share the better rank. The page reads one row more, above its first
    one, to compare with.
    """
    first = max(start - 1, 0)
    rated = Rating.objects.filter(season=season).order_by("-rating", "bot")
    members = Membership.objects.filter(ladder=season.ladder_id, bot=OuterRef("bot"))
    # The tables are joined for the rows that are shown, and not for those above them.
    shown = rated.filter(pk__in=rated.values("pk")[first : start + length])
    shown = shown.annotate(place=Subquery(members.values("status")))
    rows: list[LeaderboardRow] = []
    above: Skill | None = None
    rank = 0
    ranked_rating = math.inf
    for position, row in enumerate(shown.values_list(*COLUMNS, named=True), first + 1):
        if above is None and start:
            rank = rated.filter(rating__gt=row.rating).count() + 1
        elif row.rating != ranked_rating:
            rank = position
        ranked_rating = row.rating
        skill = Skill(row.mu, row.sigma)
        if position > start:
            rows.append(_leaderboard_row(rank, row, skill, above))
        above = skill
    return LeaderboardPage(rows, rated.count())


def page_at_one_head(season: Season, start: int, length: int) -> LeaderboardPage:
    """Return a page of the leaderboard, with the head from which it follows."""
    heads = Season.objects.filter(pk=season.pk).values_list("head", flat=True)
    page, head = read_at_one_entry(
        heads, lambda: leaderboard_page(season, start, length)
    )
    return replace(page, head=head)


def read_at_one_entry(
    last: QuerySet[Any, int], read: Callable[[], T]
) -> tuple[T, int | None]:
    """Return what `read` returns, and the entry of the ledger from which it follows.

    `last` selects the number of the last entry; without a row it is 0. It is asked
    before and after. If entries were added all the time, the number is None.
    """
    before = last.first() or 0
    for _ in range(MAX_READS):
        found = read()
        after = last.first() or 0
        if before == after:
            return found, after
        before = after
    return found, None


def rank(season: Season, rating: Rating) -> int:
    """Return a bot's rank on the leaderboard; equal ratings share the better rank."""
    better = Rating.objects.filter(season=season, rating__gt=rating.rating)
    return better.count() + 1


def _leaderboard_row(
    rank: int,
    row: Any,  # noqa: ANN401 - a named tuple of COLUMNS
    skill: Skill,
    above: Skill | None,
) -> LeaderboardRow:
    plays = row.bot__status == Bot.Status.ACTIVE and row.place is not None
    return skill_row(
        rank,
        skill,
        above,
        bot=row.bot__slug,
        id=row.bot_id,
        name=row.bot__name,
        house=row.bot__house,
        status=row.place if plays else row.bot__status,
        submission=row.submission__number,
        games=row.games,
        forfeits=row.forfeits,
        settling=is_settling(row.fresh),
    )


def skill_row(
    rank: int,
    skill: Skill,
    above: Skill | None,
    **facts: Any,  # noqa: ANN401 - the other fields of a row
) -> LeaderboardRow:
    """Return a row with these facts, and with all that follows from the skills."""
    return LeaderboardRow(
        rank=rank,
        mu=skill.mu,
        sigma=skill.sigma,
        rating=skill.shown_rating,
        low=skill.mu - INTERVAL_95_SDS * skill.sigma,
        high=skill.mu + INTERVAL_95_SDS * skill.sigma,
        tied_with_above=above is not None and are_tied(above, skill),
        **facts,
    )


def are_tied(one: Skill, other: Skill) -> bool:
    """True if neither bot is the better one with 95 %, by TrueSkill alone."""
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
