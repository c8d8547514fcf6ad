"""Statistics of a season beyond the ratings: records, opponents, tie bands. Reads only.

All numbers come from rated games that are finished, and from the present ratings.
"""

import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import count
from typing import NamedTuple

from django.core.cache import cache
from django.db.models import QuerySet

from ladder.bots.models import Bot
from ladder.games.models import GameStatus, Seat
from ladder.ratings import leaderboard
from ladder.ratings.core.ledger import EntryKind
from ladder.ratings.core.trueskill import (
    Parameters,
    Skill,
    higher_skill_probability,
    win_probability,
)
from ladder.ratings.leaderboard import INTERVAL_95_SDS
from ladder.ratings.models import Entry, Rating, Season

CONFIDENCE = 0.95
"""Two bots are told apart if one is better with at least this probability."""
TREND_GAMES = 20
"""The trend is the change of the shown rating over this many latest games."""
TREND_TTL_S = 3600  # the key names the last entry, so a trend never becomes wrong
BAND_CHUNK_ROWS = 500


@dataclass(frozen=True, slots=True)
class RatingSummary:
    """A bot's numbers in a season that can be read without going through its games.

    `low` and `high` are the 95 % interval of μ. `fresh` counts the games since the code
    changed last. `trend` is None before the bot's first rated game.
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
    the difference of the means, with its 95 % interval from `low` to `high`.
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


@dataclass(slots=True)
class SeatTally:
    """Games together, and how many of them the first bot finished ahead or tied."""

    games: int = 0
    before: int = 0
    ties: int = 0

    def add(self, rank: int, other_rank: int) -> None:
        self.games += 1
        self.before += rank < other_rank
        self.ties += rank == other_rank


class _OwnSeat(NamedTuple):
    """A bot's seat in one game; the rank is 0 if the game has none."""

    seat: int
    players: int
    rank: int


class _OtherSeat(NamedTuple):
    """The seat of an opponent in the same game."""

    bot: int
    rank: int


class _SeatResult(NamedTuple):
    """A rank, and the share of opponents that finished behind it."""

    rank: int
    share: float


def record(season: Season, rating: Rating) -> SeasonRecord:
    """Return a bot's summary, and its strength by players and seat."""
    return SeasonRecord(
        **asdict(summary(season, rating)), strength=strength(season, rating.bot)
    )


def summary(season: Season, rating: Rating) -> RatingSummary:
    """Return a bot's numbers without going through its games."""
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
    )


def trend(season: Season, rating: Rating) -> float | None:
    """Return the change of the shown rating over the latest games; None without any.

    Cached until an entry changes the rating: a page of the leaderboard shows 50 trends.
    """
    key = f"trend:{season.pk}:{rating.bot_id}:{rating.seq}:{rating.rating!r}"
    cached: tuple[float | None] | None = cache.get(key)
    if cached is None:
        cached = (_trend(season, rating),)
        cache.set(key, cached, TREND_TTL_S)
    return cached[0]


def _trend(season: Season, rating: Rating) -> float | None:
    # The entries are found through the bot's latest seats, because a season's ledger is
    # long. Twice as many seats are read as needed: some games may not be rated yet.
    seats = _rated_seats(season, rating.bot).order_by("-game")
    latest_games = list(seats.values_list("game", flat=True)[: 2 * TREND_GAMES])
    entries = Entry.objects.filter(
        season=season, kind=EntryKind.GAME, game__in=latest_games
    ).order_by("-seq")
    latest_changes = list(entries.values_list("changes", flat=True)[:TREND_GAMES])
    if not latest_changes:
        return None
    for change in latest_changes[-1]:
        if change["bot"] == rating.bot_id and change["before"]:
            return float(rating.rating - Skill(*change["before"]).shown_rating)
    return None


def strength(season: Season, bot: Bot) -> list[SeatStrength]:
    """Return a bot's strength for each number of players and each seat, in order."""
    results: dict[tuple[int, int], list[_SeatResult]] = defaultdict(list)
    own_seats, other_seats = _seats(season, bot)
    for game, own in own_seats.items():
        others = other_seats[game]
        beaten = sum(
            (own.rank < other.rank) + 0.5 * (own.rank == other.rank) for other in others
        )
        share = beaten / max(1, len(others))
        results[own.players, own.seat].append(_SeatResult(own.rank, share))
    return [
        SeatStrength(
            players=players,
            seat=seat,
            games=len(cell),
            wins=sum(result.rank == 1 for result in cell),
            share=sum(result.share for result in cell) / len(cell),
        )
        for (players, seat), cell in sorted(results.items())
    ]


def opponents(season: Season, rating: Rating) -> list[Meeting]:
    """Return the meetings with each opponent of a bot, the most frequent one first."""
    own_seats, other_seats = _seats(season, rating.bot)
    tallies: dict[int, SeatTally] = defaultdict(SeatTally)
    for game, own in own_seats.items():
        for other in other_seats[game]:
            tallies[other.bot].add(own.rank, other.rank)
    ratings = Rating.objects.filter(season=season, bot__in=tallies)
    meetings = [
        meeting(season, rating, other, tallies[other.bot_id])
        for other in ratings.select_related("bot")
    ]
    return sorted(meetings, key=lambda row: (-row.games, row.other))


def meeting(
    season: Season, one: Rating, other: Rating, tally: SeatTally | None = None
) -> Meeting:
    """Return two bots head to head. Without `tally`, count their games together."""
    if tally is None:
        tally = _tally(season, one.bot, other.bot)
    skill = Skill(one.mu, one.sigma)
    other_skill = Skill(other.mu, other.sigma)
    difference = skill.mu - other_skill.mu
    spread = INTERVAL_95_SDS * math.hypot(skill.sigma, other_skill.sigma)
    parameters = Parameters(**season.parameters)
    return Meeting(
        bot=one.bot.slug,
        other=other.bot.slug,
        other_name=other.bot.name,
        games=tally.games,
        before=tally.before,
        ties=tally.ties,
        chance=win_probability(skill, other_skill, parameters),
        better=higher_skill_probability(skill, other_skill),
        apart=difference,
        low=difference - spread,
        high=difference + spread,
    )


def bands(season: Season, first: int = 1, last: int = 1000) -> list[TieBand]:
    """Return the tie bands that contain the positions `first` to `last`, each whole.

    Going down the leaderboard, a bot belongs to the present band unless the band's
    first bot is better than it with at least `CONFIDENCE`. Otherwise it starts the next
    band.
    """
    heads: list[tuple[int, Skill]] = []
    end = 0
    for position, skill in enumerate(_skills_best_first(season), start=1):
        if not heads or higher_skill_probability(heads[-1][1], skill) >= CONFIDENCE:
            if position > last:
                break
            heads.append((position, skill))
        end = position
    starts = [position for position, _ in heads]
    following = [*starts, end + 1][1:]
    bands = [
        TieBand(start, next_start - 1, head.mu)
        for (start, head), next_start in zip(heads, following, strict=True)
    ]
    return [band for band in bands if band.last >= first]


def _skills_best_first(season: Season) -> Iterator[Skill]:
    """Yield the skills in the order of the leaderboard, read chunk by chunk."""
    rows = Rating.objects.filter(season=season).order_by("-rating", "bot")
    columns = rows.values_list("mu", "sigma")
    for start in count(0, BAND_CHUNK_ROWS):
        chunk = [Skill(*row) for row in columns[start : start + BAND_CHUNK_ROWS]]
        yield from chunk
        if len(chunk) < BAND_CHUNK_ROWS:
            return


def _tally(season: Season, one: Bot, other: Bot) -> SeatTally:
    """Count the games of two bots together."""
    tally = SeatTally()
    ranks = dict(_rated_seats(season, one).values_list("game", "rank"))
    other_seats = _rated_seats(season, other).filter(game__in=ranks)
    for game, other_rank in other_seats.values_list("game", "rank"):
        tally.add(ranks[game] or 0, other_rank or 0)
    return tally


def _rated_seats(season: Season, bot: Bot) -> QuerySet[Seat]:
    """Return a bot's seats in finished games that the season rates."""
    return Seat.objects.filter(
        submission__bot=bot,
        game__status=GameStatus.FINISHED,
        game__match__pairing__season=season,
    )


def _seats(
    season: Season, bot: Bot
) -> tuple[dict[int, _OwnSeat], dict[int, list[_OtherSeat]]]:
    """Return by game a bot's own seat, and the seats of its opponents."""
    rated = _rated_seats(season, bot)
    own_seats = {
        game: _OwnSeat(seat, players, rank or 0)
        for game, seat, players, rank in rated.values_list(
            "game", "number", "game__match__seats", "rank"
        )
    }
    other_seats: dict[int, list[_OtherSeat]] = defaultdict(list)
    all_seats = Seat.objects.filter(game__in=rated.values("game"))
    others = all_seats.exclude(submission__bot=bot)
    for game, other, rank in others.values_list("game", "submission__bot", "rank"):
        other_seats[game].append(_OtherSeat(other, rank or 0))
    return own_seats, other_seats
