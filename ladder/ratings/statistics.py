"""Statistics of a season beyond the ratings: records, opponents, tie bands. Reads only.

All numbers come from the summaries of the ledger, and from the present ratings, so that
the cost of a number does not depend on how many games there are.
"""

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from django.db.models import Exists, F, FloatField, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from ladder.bots.models import Bot
from ladder.ratings import leaderboard, second_opinion
from ladder.ratings.leaderboard import JointEstimate
from ladder.ratings.models import (
    MeetingSummary,
    Rating,
    RatingPoint,
    Season,
    SeatSummary,
)
from torres.rating.joint_claims import INTERVAL_95_SDS, RankRange
from torres.rating.ledger import EntryKind
from torres.rating.trueskill import (
    SHOWN_RATING_SIGMAS,
    Parameters,
    Skill,
    higher_skill_probability,
    win_probability,
)

TREND_GAMES = 20
"""The trend is the change of the shown rating over this many latest games."""
COMPARED_KINDS = (EntryKind.GAME, EntryKind.JOIN)
"""The trend counts the points after entries of these kinds."""
BAND_CHUNK_ROWS = 500


@dataclass(frozen=True, slots=True)
class RatingSummary:
    """A bot's numbers in a season that can be read without going through its games.

    `low` and `high` are μ ± 1.96 σ of TrueSkill. `fresh` counts the games since the
    code changed last. `trend` is None before the bot's first rated game. `joint` is
    None until the bot's submission has played enough games.
    """

    bot: str
    name: str
    rank: int
    mu: float
    sigma: float
    rating: float
    low: float
    high: float
    games: int
    forfeits: int
    fresh: int
    settling: bool
    trend: float | None
    joint: JointEstimate | None


@dataclass(frozen=True, slots=True)
class SeatStrength:
    """A bot's results in one seat, in games with this number of players.

    `wins` counts first ranks. `share` is the mean share of opponents that finished
    behind the bot; a tie counts half. Seats count from 0.
    """

    players: int
    seat: int
    games: int
    wins: int
    share: float


@dataclass(frozen=True, slots=True)
class SeasonRecord(RatingSummary):
    """A bot's numbers in a season, with its strength by players and seat."""

    strength: list[SeatStrength]


@dataclass(frozen=True, slots=True)
class Meeting:
    """Two bots head to head, as seen from `bot`. `bot` and `other` are slugs.

    `before` and `ties` count games together. `chance` is the probability that the bot
    finishes ahead in the next one, `better` that it has the higher skill. `apart` is
    the difference of the means, and `low` to `high` 1.96 standard deviations around it.
    All are TrueSkill's.
    """

    bot: str
    other: str
    other_name: str
    games: int
    before: int
    ties: int
    chance: float
    better: float
    apart: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class TieBand:
    """Positions on the leaderboard, from 1, whose bots cannot be told apart.

    `mu` is that of the first bot.
    """

    first: int
    last: int
    mu: float


def record(season: Season, rating: Rating) -> SeasonRecord:
    """Return a bot's summary, and its strength by players and seat."""
    return SeasonRecord(
        **asdict(summary(season, rating)), strength=strength(season, rating.bot)
    )


def summary(season: Season, rating: Rating) -> RatingSummary:
    """Return a bot's numbers without going through its games."""
    opinion = second_opinion.opinions_on(season, [rating.bot_id]).get(rating.bot_id)
    return RatingSummary(
        bot=rating.bot.slug,
        name=rating.bot.name,
        rank=leaderboard.rank(season, rating),
        mu=rating.mu,
        sigma=rating.sigma,
        rating=rating.rating,
        low=rating.mu - INTERVAL_95_SDS * rating.sigma,
        high=rating.mu + INTERVAL_95_SDS * rating.sigma,
        games=rating.games,
        forfeits=rating.forfeits,
        fresh=rating.fresh,
        settling=leaderboard.is_settling(rating.fresh),
        trend=trend(season, rating),
        joint=None if opinion is None else opinion.joint,
    )


def trends_of(season: Season, slugs: list[str]) -> dict[str, float | None]:
    """Return the trends of the bots with these slugs, by slug."""
    ratings = Rating.objects.filter(season=season, bot__slug__in=slugs)
    return trends(season, ratings, key="bot__slug")


def trends(
    season: Season, ratings: QuerySet[Rating], key: str = "bot"
) -> dict[Any, float | None]:
    """Return the change of the shown rating over the latest games, by bot.

    `key` is the column that names a bot. None stands for a bot without games. A bot
    with few games is compared with its first rating. All trends are read in one query.
    """
    points = RatingPoint.objects.filter(season=season, bot=OuterRef("bot"))
    shown = F("mu") - SHOWN_RATING_SIGMAS * F("sigma")
    latest = points.filter(kind__in=COMPARED_KINDS).order_by("-seq")
    base = Coalesce(
        Subquery(latest.values(shown=shown)[TREND_GAMES : TREND_GAMES + 1]),
        Subquery(points.order_by("seq").values(shown=shown)[:1]),
        output_field=FloatField(),
    )
    rows = ratings.annotate(base=base).values_list(key, "games", "rating", "base")
    return {
        bot: rating - base if games and base is not None else None
        for bot, games, rating, base in rows
    }


def trend(season: Season, rating: Rating) -> float | None:
    """Return the change of the shown rating over the latest games; None without any."""
    return trends(season, Rating.objects.filter(pk=rating.pk))[rating.bot_id]


def strength(season: Season, bot: Bot) -> list[SeatStrength]:
    """Return a bot's strength for each number of players and each seat, in order."""
    rows = SeatSummary.objects.filter(season=season, bot=bot, games__gt=0)
    return [
        SeatStrength(
            players=row.players,
            seat=row.seat,
            games=row.games,
            wins=row.wins,
            share=row.halves / (2 * (row.players - 1) * row.games),
        )
        for row in rows.order_by("players", "seat")
    ]


def opponents(season: Season, rating: Rating, start: int, length: int) -> list[Meeting]:
    """Return `length` meetings with the opponents of a bot from index `start` on.

    The most frequent opponent comes first.
    """
    met = _met(season, rating).order_by("-games", "other")
    rows = list(met[start : start + length])
    others = Rating.objects.filter(
        season=season, bot__in=[row.other_id for row in rows]
    ).select_related("bot")
    ratings = {other.bot_id: other for other in others}
    return [
        _meeting(season, rating, ratings[row.other_id], row)
        for row in rows
        if row.other_id in ratings
    ]


def opponent_count(season: Season, rating: Rating) -> int:
    """Return how many opponents a bot has. The cost grows with their number."""
    return _met(season, rating).count()


def _met(season: Season, rating: Rating) -> QuerySet[MeetingSummary]:
    """Return a bot's meetings, without the opponents that are not rated any more."""
    is_rated = Rating.objects.filter(season=season, bot=OuterRef("other"))
    return MeetingSummary.objects.filter(
        Exists(is_rated), season=season, bot=rating.bot, games__gt=0
    )


def meeting(season: Season, one: Rating, other: Rating) -> Meeting:
    """Return two bots head to head."""
    met = MeetingSummary.objects.filter(season=season, bot=one.bot, other=other.bot)
    return _meeting(
        season, one, other, met.first() or MeetingSummary(games=0, before=0, ties=0)
    )


def _meeting(
    season: Season, one: Rating, other: Rating, counts: MeetingSummary
) -> Meeting:
    skill = Skill(one.mu, one.sigma)
    other_skill = Skill(other.mu, other.sigma)
    difference = skill.mu - other_skill.mu
    spread = INTERVAL_95_SDS * math.hypot(skill.sigma, other_skill.sigma)
    parameters = Parameters(**season.parameters)
    return Meeting(
        bot=one.bot.slug,
        other=other.bot.slug,
        other_name=other.bot.name,
        games=counts.games,
        before=counts.before,
        ties=counts.ties,
        chance=win_probability(skill, other_skill, parameters),
        better=higher_skill_probability(skill, other_skill),
        apart=difference,
        low=difference - spread,
        high=difference + spread,
    )


def bands(season: Season, first: int = 1, last: int = 1000) -> list[TieBand]:
    """Return the tie bands that contain the positions `first` to `last`, each whole.

    Going down the leaderboard, a bot starts the next band if the first bot of the
    present one is surely better by the joint fit (`RankRange.is_surely_above`). A bot
    without an estimate belongs to the present band, and the next one speaks for the
    band in its place. So a season without an estimate is one band.
    """
    ranges = second_opinion.rank_ranges(season)
    heads: list[tuple[int, float]] = []
    end = 0
    head: RankRange | None = None
    for position, (bot, mu) in enumerate(
        _bots_best_first(season, last + BAND_CHUNK_ROWS), start=1
    ):
        own = ranges.get(bot)
        if not heads or (head and own and head.is_surely_above(own)):
            if position > last:
                break
            heads.append((position, mu))
            head = own
        end = position
        head = head or own
    starts = [position for position, _ in heads]
    following = [*starts, end + 1][1:]
    bands = [
        TieBand(start, next_start - 1, mu)
        for (start, mu), next_start in zip(heads, following, strict=True)
    ]
    return [band for band in bands if band.last >= first]


def _bots_best_first(season: Season, expected: int) -> Iterator[tuple[int, float]]:
    """Yield the bots with their μ, in the order of the leaderboard.

    The `expected` first ones are read at once, and the others chunk by chunk.
    """
    rows = Rating.objects.filter(season=season).order_by("-rating", "bot")
    columns = rows.values_list("bot", "mu")
    start = 0
    length = expected
    while True:
        chunk = list(columns[start : start + length])
        yield from chunk
        if len(chunk) < length:
            return
        start += length
        length = BAND_CHUNK_ROWS
