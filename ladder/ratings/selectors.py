"""Queries about seasons, ratings, and the bots and games of a ladder. Reads only."""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import NamedTuple

import structlog
from django.db.models import Count, F, Q, QuerySet
from django.db.models.functions import Now

from engine.errors import EngineError
from engine.rulesets import resolve
from ladder.bots.models import Bot, Submission
from ladder.bots.selectors import belongs_to_somebody
from ladder.common.fixed_query import ComposedQuery, FixedQuery, composed
from ladder.games.models import OPEN, Attempt, Game, GameStatus, Seat
from ladder.ratings.models import Ladder, Membership, Pairing, Rating, Season
from torres.checking.forms import GameForm
from torres.rating.pool import BotProfile
from torres.rating.trueskill import Skill
from torres.runner.protocol import Limits

log = structlog.get_logger()

MAX_VALIDATION_GAMES = 12
"""The number of games that an upload plays at most before it is ready."""
REMEMBERED_MATCHES = 500
"""A new matchmaking session reads this many latest matches: who met, who sat where."""

UNRATED_TURNS_WINDOW = timedelta(days=1)
"""Unrated turns are held against a bot for this long."""

PROFILE_COLUMNS = (
    "seq",
    "bot",
    "bot__slug",
    "submission",
    "bot__owner",
    "mu",
    "sigma",
    "games",
    "fresh",
    "latest",
    "bot__house",
)


class UnratedTurn(NamedTuple):
    """The cost of one submission without a rated game: an attempt, or a dead game."""

    ended_at: datetime
    bot: int
    submission: int
    is_dead_game: bool


class RankedBot(NamedTuple):
    """A bot in the order of the leaderboard, with its games in the season."""

    bot: int
    skill: Skill
    games: int


class EligibleBot(NamedTuple):
    """A bot that may be paired, and the last entry that changed its rating."""

    seq: int
    profile: BotProfile


def playing() -> QuerySet[Season]:
    """Return the seasons that make matches now."""
    return Season.objects.filter(
        Q(ladder__opens_at__isnull=True) | Q(ladder__opens_at__lte=Now()),
        Q(ladder__closes_at__isnull=True) | Q(ladder__closes_at__gt=Now()),
        status__in=[Season.Status.OPEN, Season.Status.FINALS],
    ).select_related("ladder")


def unarchived() -> QuerySet[Season]:
    """Return the seasons whose ledger may still grow."""
    return Season.objects.exclude(status=Season.Status.ARCHIVED)


def validation_forms(submission: int) -> list[GameForm]:
    """Return the forms of the games that a submission will play on ladders.

    These are the open ladders on which its bot is, and the default one if it is on no
    ladder yet. The default ladder comes first, and each ladder begins with its smallest
    tables. At most MAX_VALIDATION_GAMES forms are returned, so that an upload is ready
    in seconds.
    """
    own = Membership.objects.filter(bot__submissions=submission)
    on_the_ladder = own.filter(
        status__in=[Membership.Status.ACTIVE, Membership.Status.BENCHED]
    )
    joined = Q(pk__in=on_the_ladder.values("ladder"))
    ladders = Ladder.objects.filter(
        joined if own.exists() else Q(default=True),
        seasons__in=Season.objects.filter(status=Season.Status.OPEN),
    )
    forms: list[GameForm] = []
    for ladder in ladders.order_by("-default", "pk").distinct():
        try:
            forms += [form for form in forms_of(ladder) if form not in forms]
        except (EngineError, TypeError, ValueError):
            # A ladder that cannot be played must not stop the uploads of all others.
            log.exception("the rules of a ladder are not valid", ladder=ladder.slug)
    return forms[:MAX_VALIDATION_GAMES]


def forms_of(ladder: Ladder) -> list[GameForm]:
    """Return the forms of a ladder's games, the smallest tables first.

    Raises BadSwitch, TypeError or ValueError if the ladder's settings are not valid.
    """
    sizes = sorted(int(seats) for seats, share in ladder.tables.items() if share)
    limits = Limits(**ladder.limits)
    forms = [GameForm(ladder.ruleset, n, limits, ladder.switches) for n in sizes]
    for form in forms:
        resolve(form.ruleset, form.seats, form.switches)
    return forms


def ratings_best_first(season: Season) -> QuerySet[Rating]:
    """Return the ratings in the order of the leaderboard; equal ones by bot id."""
    return (
        Rating.objects.filter(season=season)
        .select_related("bot", "submission")
        .order_by("-rating", "bot")
    )


def ranked_bots(season: Season) -> list[RankedBot]:
    """Return all rated bots in the order of the leaderboard."""
    rows = Rating.objects.filter(season=season).order_by("-rating", "bot")
    return [
        RankedBot(bot, Skill(mu, sigma), games)
        for bot, mu, sigma, games in rows.values_list("bot", "mu", "sigma", "games")
    ]


def playable_statuses(season: Season) -> list[Submission.Status]:
    """Return the statuses in which a rated submission may play.

    In finals a submission plays on after a newer upload has retired it.
    """
    if season.status == Season.Status.FINALS:
        return [Submission.Status.READY, Submission.Status.RETIRED]
    return [Submission.Status.READY]


def paired_bots() -> int:
    """Count the bots that get matches; a bot counts once for each of its ladders."""
    return Membership.objects.filter(
        ladder__in=playing().values("ladder"),
        status=Membership.Status.ACTIVE,
        bot__status=Bot.Status.ACTIVE,
    ).count()


def eligible_bots(season: Season, *, after: int = 0) -> Iterator[EligibleBot]:
    """Yield the bots that may be paired and that changed after entry `after`."""
    rows = Rating.objects.filter(
        belongs_to_somebody("bot__"),
        season=season,
        seq__gt=after,
        bot__status=Bot.Status.ACTIVE,
        bot__memberships__ladder=season.ladder_id,
        bot__memberships__status=Membership.Status.ACTIVE,
        submission__status__in=playable_statuses(season),
    ).order_by("bot")
    for row in rows.values_list(*PROFILE_COLUMNS):
        seq, bot, name, submission, owner, mu, sigma, games, fresh, latest, house = row
        profile = BotProfile(
            bot=bot,
            name=name,
            submission=submission,
            owner=owner or f"house {bot}",
            mu=mu,
            sigma=sigma,
            games=games,
            fresh=fresh,
            latest=latest,
            house=house,
        )
        yield EligibleBot(seq, profile)


def latest_seats(season: Season) -> QuerySet[Seat, tuple[int, int]]:
    """Return (match, bot) for each seat of the latest matches, in their first games.

    The oldest match comes first, and its bots are in the order of their seats.
    """
    pairings = Pairing.objects.filter(season=season)
    latest = pairings.order_by("-match")[:REMEMBERED_MATCHES]
    return (
        Seat.objects.filter(
            game__match__in=list(latest.values_list("match", flat=True)),
            game__index=0,
            game__replaces=None,
        )
        .order_by("game__match", "number")
        .values_list("game__match", "bot")
    )


def open_seats(season: Season) -> Counter[int]:
    """Count each bot's games that are scheduled or running.

    They are found by the open pairings, so SQLite does not go through all pairings.
    """
    seats = Seat.objects.filter(
        game__status__in=OPEN,
        game__match__pairing__season=season,
        game__match__pairing__open=True,
    )
    return Counter(seats.values_list("bot", flat=True))


def unrated_turns(season: Season, *, after: datetime) -> list[UnratedTurn]:
    """List what bots cost without a rated game since a moment, at most for a day.

    These are the attempts that failed in a bot's seat, and the games that are dead.
    """
    failed = Attempt.objects.filter(
        Q(seat=F("game__seats__number"))
        | Q(seat=None, game__status=GameStatus.DEAD, fence=F("game__fence")),
        outcome=Attempt.Outcome.FAILED,
        ended_at__gt=Now() - UNRATED_TURNS_WINDOW,
        game__match__pairing__season=season,
    )
    seats = "game__seats__submission"
    rows = (
        failed.filter(ended_at__gt=after)
        .order_by("ended_at")
        .values_list("ended_at", f"{seats}__bot", seats, "seat")
    )
    return [
        UnratedTurn(ended_at, bot, submission, seat is None)
        for ended_at, bot, submission, seat in rows
    ]


def open_games(season: Season) -> int:
    """Count the games of a season that are scheduled or running."""
    return Game.objects.filter(status__in=OPEN, match__pairing__season=season).count()


def open_games_by_season() -> dict[int, int]:
    """Return, for each season that makes matches now, how many games are open.

    The open games are found by the open pairings. A subquery for each season would make
    SQLite go through all pairings of the season at each tick.
    """
    return dict(_OPEN_GAMES_BY_SEASON.rows())


def fewest_open_games() -> ComposedQuery:
    """Return the expression of the smallest count of `open_games_by_season`."""
    counts = _compose_open_games_by_season()
    text = f"SELECT MIN(games) FROM ({counts.text}) AS counts"  # noqa: S608
    return ComposedQuery(text, counts.values)


def _compose_open_games_by_season() -> ComposedQuery:
    waiting = Pairing.objects.filter(open=True, match__games__status__in=OPEN)
    grouped = waiting.order_by().values("season").annotate(count=Count("match__games"))
    counts = composed(grouped.values_list("season", "count"))
    seasons = composed(playing().select_related(None).values_list("pk"))
    return ComposedQuery(
        "SELECT seasons.pk, COALESCE(counts.count, 0) AS games"  # noqa: S608
        f" FROM ({seasons.text}) AS seasons"
        f" LEFT JOIN ({counts.text}) AS counts ON counts.season = seasons.pk",
        [*seasons.values, *counts.values],
    )


_OPEN_GAMES_BY_SEASON = FixedQuery(_compose_open_games_by_season)
