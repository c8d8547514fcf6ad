"""Which seasons play, who may be paired, and the leaderboard."""

from collections import Counter
from collections.abc import Iterator, Sequence

from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from ladder.bots.models import Bot, Submission
from ladder.games.models import OPEN, Game, Seat
from ladder.ratings.core.pool import PoolEntry
from ladder.ratings.core.trueskill import Skill
from ladder.ratings.models import Pairing, Rating, Season

LATELY = 500
"""So many last matches a new matchmaker remembers: who met, and who sat where."""

KNOWN = (
    "seq",
    "bot",
    "bot__slug",
    "submission",
    "bot__owner",
    "mu",
    "sigma",
    "games",
    "fresh",
    "streak",
)


def playing() -> QuerySet[Season]:
    """List the seasons that make matches now."""
    return Season.objects.filter(
        Q(ladder__opens_at__isnull=True) | Q(ladder__opens_at__lte=Now()),
        Q(ladder__closes_at__isnull=True) | Q(ladder__closes_at__gt=Now()),
        status__in=[Season.Status.OPEN, Season.Status.FINALS],
    ).select_related("ladder")


def unfolded() -> QuerySet[Season]:
    """List the seasons whose ledger may still have to grow."""
    return Season.objects.exclude(status=Season.Status.ARCHIVED)


def leaderboard(season: Season) -> QuerySet[Rating]:
    """List the ratings, best first; equal ones by bot."""
    return (
        Rating.objects.filter(season=season)
        .select_related("bot", "submission")
        .order_by("-rating", "bot")
    )


def standings(season: Season) -> list[tuple[int, Skill, int]]:
    """List bot, skill and games of all ratings, best first, as leaderboards do."""
    rows = Rating.objects.filter(season=season).order_by("-rating", "bot")
    return [
        (bot, Skill(mu, sigma), games)
        for bot, mu, sigma, games in rows.values_list("bot", "mu", "sigma", "games")
    ]


def playable(season: Season) -> list[Submission.Status]:
    """List the states in which a submission plays: in finals its successor waits."""
    ready, retired = Submission.Status.READY, Submission.Status.RETIRED
    return [ready, retired] if season.status == Season.Status.FINALS else [ready]


def candidates(season: Season, *, after: int = 0) -> Iterator[tuple[int, PoolEntry]]:
    """Go through the bots that may be paired, each with the entry that moved it last.

    Those after entry `after` only: what a keeper of candidates has not seen yet.
    """
    rows = Rating.objects.filter(
        season=season,
        seq__gt=after,
        bot__status=Bot.Status.ACTIVE,
        submission__status__in=playable(season),
    ).order_by("bot")
    for row in rows.values_list(*KNOWN):
        seq, bot, name, submission, owner, mu, sigma, games, fresh, streak = row
        who = owner or f"house {bot}"
        yield (
            seq,
            PoolEntry(bot, name, submission, who, mu, sigma, games, fresh, streak),
        )


def latest_seats(season: Season) -> QuerySet[Seat, tuple[int, int]]:
    """List match and bot of the latest matches' first games, oldest first, by seat."""
    latest = Pairing.objects.filter(season=season).order_by("-match")[:LATELY]
    return (
        Seat.objects.filter(
            game__match__in=list(latest.values_list("match", flat=True)),
            game__index=0,
            game__replaces=None,
        )
        .order_by("game__match", "number")
        .values_list("game__match", "submission__bot")
    )


def open_seats(season: Season) -> Counter[int]:
    """Count each bot's games that are scheduled or running."""
    seats = Seat.objects.filter(
        game__status__in=OPEN, game__match__pairing__season=season
    )
    return Counter(seats.values_list("submission__bot", flat=True))


def open_games(season: Season) -> int:
    """Count the games of a season that are scheduled or running."""
    return Game.objects.filter(status__in=OPEN, match__pairing__season=season).count()


def seasons_of(games: Sequence[int]) -> dict[int, int]:
    """Return the season of each of these games that is rated."""
    pairs = Pairing.objects.filter(match__games__in=games)
    return dict(pairs.values_list("match__games", "season"))
