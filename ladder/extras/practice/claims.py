"""The claims of hosts on practice games: take, record, ask.

If a host is killed, its lease ends (`ladder.common.leases`), and another host takes the
game and repeats its moves.
"""

from datetime import timedelta
from functools import partial

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Coalesce, Now

from engine.documents import ForfeitEntry
from ladder.common import leases
from ladder.common.fixed_query import ComposedQuery, FixedQuery, composed
from ladder.common.leases import Held
from ladder.common.storable import storable
from ladder.extras.practice import selectors
from ladder.extras.practice.endings import close
from ladder.extras.practice.models import (
    PracticeGame,
    PracticeMove,
    PracticeOpponent,
    PracticeStatus,
)
from ladder.games.attempts import LEASE

MAX_CLAIMS = 5
"""A game that was interrupted more often has failed: it may be what ends the hosts."""
MAX_CANDIDATES = 5
MAX_WAIT = timedelta(minutes=15)
MAX_SILENCE = 10 * LEASE
NOBODY_FREE = (
    "All slots were taken for too long, or no host of games by hand is running. Try"
    " again later."
)
INTERRUPTED = (
    "The service was interrupted while it played this game, and could not go on with"
    " it. Nothing of it counts. Play again."
)


class ClaimLost(Exception):
    """The game has ended, or belongs to another host. This one must stop."""


PracticeClaim = Held[PracticeGame]
"""The right to play one practice game, until its fence grows or it ends."""


def claim(host: str, *, of_guests: bool = True) -> PracticeClaim | None:
    """Take the game that is next, or one whose host was lost.

    Users come before guests, and of each the one who has waited longest. Games of
    guests are left waiting without `of_guests`.
    """
    candidates = _CANDIDATES if of_guests else _CANDIDATES_OF_USERS
    for pk, fence in candidates.rows():
        taken = leases.take(
            PracticeGame.objects.filter(selectors.claimable()),
            pk,
            fence,
            LEASE,
            status=PracticeStatus.RUNNING,
            host=host,
            started_at=Coalesce(F("started_at"), Now()),
        )
        if taken is not None:
            return Held(_running(), pk, taken)
    return None


def _candidates(among: Q) -> ComposedQuery:
    candidates = PracticeGame.objects.filter(
        selectors.claimable(), among, fence__lt=MAX_CLAIMS
    ).order_by(*selectors.QUEUE_ORDER)
    return composed(candidates.values_list("pk", "fence")[:MAX_CANDIDATES])


_CANDIDATES = FixedQuery(partial(_candidates, Q()))
_CANDIDATES_OF_USERS = FixedQuery(partial(_candidates, Q(owner__isnull=False)))


def _running() -> QuerySet[PracticeGame]:
    return PracticeGame.objects.filter(status=PracticeStatus.RUNNING)


@transaction.atomic
def record(claim: PracticeClaim, move: PracticeMove) -> None:
    """Store one move. Raises ClaimLost."""
    if not claim.row().select_for_update().exists():
        raise ClaimLost
    move.game_id = claim.pk
    move.note = storable(move.note)
    move.save(force_insert=True)


@transaction.atomic
def record_forfeit(claim: PracticeClaim, forfeit: ForfeitEntry, detail: str) -> None:
    """Store that a seat forfeited, with what its owner may read. Raises ClaimLost."""
    game = claim.row().select_for_update().first()
    if game is None:
        raise ClaimLost
    claim.update(forfeits=[*game.forfeits, forfeit])
    PracticeOpponent.objects.filter(game=claim.pk, number=forfeit["seat"]).update(
        fault_detail=storable(detail)
    )


def ask(claim: PracticeClaim, ply: int, seconds: float, bank_s: float) -> None:
    """Ask the person, who has this many seconds for an answer. Raises ClaimLost."""
    deadline = Now() + timedelta(seconds=seconds)
    if not claim.update(ply=ply, deadline=deadline, bank_s=bank_s):
        raise ClaimLost


def answer_to(claim: PracticeClaim, ply: int) -> list[str] | None:
    """Return the answer to the question, or None so far. Raises ClaimLost."""
    row = claim.row().values_list("answer_ply", "answer").first()
    if row is None:
        raise ClaimLost
    answer_ply, answer = row
    return [*(answer or ())] if answer_ply == ply else None


def end_lifeless() -> int:
    """End games that no host will end; return how many. The dispatcher calls this.

    1. Games that wait for too long.
    2. Games whose host was lost, if no host has taken them for long, or if they were
       claimed too often.
    """
    waiting = PracticeGame.objects.filter(
        status=PracticeStatus.WAITING, created_at__lt=Now() - MAX_WAIT
    )
    lost = _running().filter(leases.is_over())
    long_lost = lost.filter(lease_until__lt=Now() - MAX_SILENCE)
    lifeless = long_lost | lost.filter(fence__gte=MAX_CLAIMS)
    # With the fence, so that a game that a host has just claimed stays.
    ended = 0
    for pk, fence in list(waiting.values_list("pk", "fence")):
        ended += close(pk, PracticeStatus.ABANDONED, NOBODY_FREE, fence=fence)
    for pk, fence in list(lifeless.values_list("pk", "fence")):
        ended += close(pk, PracticeStatus.FAILED, INTERRUPTED, fence=fence)
    return ended


def move_seconds() -> float:
    """Return the time that the person has for each decision, beside the bank."""
    seconds: float = settings.TORRES_PRACTICE_MOVE_SECONDS
    return seconds
