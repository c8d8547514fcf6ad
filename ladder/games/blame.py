"""Find the submissions that get no second chance in a game, because of earlier games.

An attempt that fails in a seat is played again, up to three times, because the fault
may be the service's (docs/decisions/0074-same-seat-in-every-attempt.md). A hostile bot
could occupy three times the slots that an honest one gets. So a submission that has
forfeited several games in this way lately gets one attempt
(docs/decisions/0084-repeat-offenders.md).
"""

from datetime import timedelta
from typing import NamedTuple

from django.db.models import F
from django.db.models.functions import Now

from ladder.games import sql
from ladder.games.models import Attempt, GameStatus, Seat

OFFENCE_WINDOW = timedelta(days=1)
MIN_OFFENCES = 2
# An honest bot that plays all day may have bad luck twice.
MIN_OFFENCES_PER_GAME = 0.1
SICKNESS_WINDOW = timedelta(hours=1)
# If attempts fail in the seats of this many owners, or of house bots, the service may
# be to blame. One or two owners may be hostile.
MIN_OWNERS = 3


class ForfeitShare(NamedTuple):
    """The forfeits among the finished games of a submission."""

    forfeits: int
    games: int


def repeat_offenders(game: int) -> set[int]:
    """Return the seats of a game whose submissions get one attempt.

    1. Count the other games of the last day that each submission of the game forfeited
       after an attempt had failed in its seat.
    2. Leave out the submissions with less than MIN_OFFENCES of them, or with many more
       games without.
    3. Return no seat if the service itself may be to blame: see `_service_may_be_sick`.
    """
    suspects = {
        offence.seat
        for offence in sql.offences(game, OFFENCE_WINDOW.total_seconds())
        if offence.games >= MIN_OFFENCES
        and offence.games >= MIN_OFFENCES_PER_GAME * _games_of(offence.submission)
    }
    if suspects and _service_may_be_sick():
        return set()
    return suspects


def forfeits_in_a_day(submission: int, ladder: str) -> ForfeitShare:
    """Return how many rated games of the last day a submission forfeited, of how many.

    Only games of the ladder with this slug count. Forfeits count as 0 if the service
    may be to blame: see `_service_may_be_sick`.
    """
    seats = Seat.objects.filter(
        submission=submission,
        game__status=GameStatus.FINISHED,
        game__finished_at__gt=Now() - OFFENCE_WINDOW,
        game__match__ladder=ladder,
    )
    forfeits = seats.exclude(fault="").count()
    if forfeits and _service_may_be_sick():
        forfeits = 0
    return ForfeitShare(forfeits, seats.count())


def _games_of(submission: int) -> int:
    """Count the games that a submission finished in the last day."""
    return Seat.objects.filter(
        submission=submission,
        game__status=GameStatus.FINISHED,
        game__finished_at__gt=Now() - OFFENCE_WINDOW,
    ).count()


def _service_may_be_sick() -> bool:
    """True if attempts failed lately in the seats of several owners or of the house."""
    bot = "game__seats__submission__bot"
    named = Attempt.objects.filter(
        outcome=Attempt.Outcome.FAILED,
        ended_at__gt=Now() - SICKNESS_WINDOW,
        seat=F("game__seats__number"),
    ).order_by()
    owners = set(named.values_list(f"{bot}__owner", f"{bot}__house").distinct())
    return any(house for _, house in owners) or len(owners) >= MIN_OWNERS
