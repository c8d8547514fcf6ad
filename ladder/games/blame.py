"""Find the bots that get no second chance in a game, because of earlier games.

An attempt that fails in a seat is played again, up to three times, because the fault
may be the service's (docs/decisions/0074-same-seat-in-every-attempt.md). A hostile bot
could occupy three times the slots that an honest one gets, and play each deal again
that goes wrong. So the attempts of the last day that failed in a bot's seat count
against it, whatever became of the games, and over all versions of the bot: one more
line of comment would make a new version. A bot with a high share of such games gets one
attempt (docs/decisions/0084-repeat-offenders.md). A bot with many is benched, whatever
their share (docs/decisions/0184-failures-follow-the-bot.md).
"""

from datetime import timedelta
from typing import NamedTuple

from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from ladder.bots.models import Bot, Submission
from ladder.games import sql
from ladder.games.models import Attempt, GameStatus, Seat

OFFENCE_WINDOW = timedelta(days=1)
MIN_OFFENCES = 3
# An honest bot that plays all day may have bad luck three times.
MIN_OFFENCES_PER_GAME = 0.1
# A bot is benched after failed attempts in this many games of the window, or if its
# owner's bots together have this many times as many.
MAX_FAILED_GAMES = 6
OWNER_FACTOR = 2
SICKNESS_WINDOW = timedelta(hours=1)
# If attempts fail in the seats of this many owners, or of house bots, the service may
# be to blame. One or two owners may be hostile.
MIN_OWNERS = 3


class ForfeitShare(NamedTuple):
    """The forfeits among the finished games of a bot."""

    forfeits: int
    games: int


def repeat_offenders(game: int) -> set[int]:
    """Return the seats of a game whose bots get one attempt.

    1. Count the other games in which an attempt of the last day failed in the seat of
       each bot of the game, with any version of it.
    2. Leave out the bots with less than MIN_OFFENCES of them, or with many more games
       without.
    3. Return no seat if the service itself may be to blame: see `_service_may_be_sick`.
    """
    suspects = {
        offence.seat
        for offence in sql.offences(game, OFFENCE_WINDOW.total_seconds())
        if offence.games >= MIN_OFFENCES and _is_large_share(offence)
    }
    if suspects and _service_may_be_sick():
        return set()
    return suspects


def failures_reason(bot: Bot) -> str:
    """Return why a bot is benched for failed attempts; "" if it is not.

    The reason is for the owner. House bots are exempt. Attempts with all versions of
    the bot count, and those of all bots of its owner, but a bot without any is exempt.
    Nobody is benched while the service may be to blame: see `_service_may_be_sick`.
    """
    own = _failed_games(Q(bot=bot), MAX_FAILED_GAMES)
    if bot.house or not own:
        return ""
    whose, games = "its seat", own
    if own < MAX_FAILED_GAMES and bot.owner_id is not None:
        limit = OWNER_FACTOR * MAX_FAILED_GAMES
        owned = Bot.objects.filter(owner=bot.owner_id).values("pk")
        games = _failed_games(Q(bot__in=owned), limit)
        if games < limit:
            return ""
        whose = "the seats of your bots"
    if games < MAX_FAILED_GAMES or _service_may_be_sick():
        return ""
    return (
        f"Attempts at {games} games or more of the last day failed in {whose}, and were"
        " played again. All versions count, so a new upload does not end this. Look at"
        " the logs of these games. The bot may join again when there are fewer in a"
        " day."
    )


def forfeits_in_a_day(
    bot: Bot, ladder: str, least_share: float, submission: int | None = None
) -> ForfeitShare:
    """Return how many rated games of the last day a bot forfeited, of how many.

    All versions count, or only one `submission`. Only games of the ladder with this
    slug count. Games are counted until the share of the forfeits is below
    `least_share`. Forfeits count as 0 if the service may be to blame: see
    `_service_may_be_sick`.
    """
    seats = Seat.objects.filter(game__match__ladder=ladder)
    versions = Submission.objects.filter(bot=bot).values("pk")
    if submission is not None:
        versions = versions.filter(pk=submission)
        seats = seats.filter(submission=submission)
    forfeits = (
        seats.filter(_in_window(), submission__in=versions).exclude(fault="").count()
    )
    if not forfeits or _service_may_be_sick():
        return ForfeitShare(0, 0)
    at_most = int(forfeits / least_share) + 1
    return ForfeitShare(forfeits, _finished_games(seats.filter(bot=bot), at_most))


def _in_window() -> Q:
    return Q(
        game__status=GameStatus.FINISHED,
        game__finished_at__gt=Now() - OFFENCE_WINDOW,
    )


def _is_large_share(offence: sql.Offence) -> bool:
    at_most = int(offence.games / MIN_OFFENCES_PER_GAME) + 1
    games = _finished_games(Seat.objects.filter(bot=offence.bot), at_most)
    return offence.games >= MIN_OFFENCES_PER_GAME * games


def _finished_games(seats: QuerySet[Seat], at_most: int) -> int:
    """Count the games that seats of one bot finished in the last day, up to a number.

    An index leads to the newest seats, so that older games are not read.
    """
    newest = seats.filter(game__status=GameStatus.FINISHED).order_by("-game")[:at_most]
    return Seat.objects.filter(_in_window(), pk__in=newest.values("pk")).count()


def _failed_games(bots: Q, at_most: int) -> int:
    """Count games with failed attempts of the last day in seats of bots."""
    failed = Attempt.objects.filter(
        bots,
        outcome=Attempt.Outcome.FAILED,
        bot__isnull=False,
        ended_at__gt=Now() - OFFENCE_WINDOW,
    )
    return failed.order_by().values("game").distinct()[:at_most].count()


def _service_may_be_sick() -> bool:
    """True if attempts failed lately in the seats of several owners or of the house."""
    named = Attempt.objects.filter(
        outcome=Attempt.Outcome.FAILED,
        ended_at__gt=Now() - SICKNESS_WINDOW,
        bot__isnull=False,
    ).order_by()
    owners = set(named.values_list("bot__owner", "bot__house").distinct())
    return any(house for _, house in owners) or len(owners) >= MIN_OWNERS
