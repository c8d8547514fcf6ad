"""Queries about practice games and the bots that one may play against. Reads only."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import NamedTuple

from django.conf import settings
from django.db.models import Count, Exists, F, OuterRef, Prefetch, Q, QuerySet
from django.db.models.functions import Now
from django.db.models.lookups import IsNull

from engine.game import TorresGame
from ladder.accounts.roles import Person
from ladder.bots import selectors as bots
from ladder.bots.models import PRIVATE, Bot, Submission
from ladder.common import leases
from ladder.extras.practice.models import (
    OPEN_PRACTICE,
    PracticeGame,
    PracticeMove,
    PracticeOpponent,
    PracticeStatus,
)
from ladder.extras.practice.position import played
from ladder.moderation.models import ServicePart
from ladder.ratings.models import Membership
from ladder.service import service_parts

MAX_OFFERED = 100
"""The bots of one kind that the form offers."""
QUEUE_ORDER = (IsNull(F("owner"), True), "pk")
"""Users come before guests, and of each first the one who has waited longest."""
HOUR = timedelta(hours=1)
MAX_GAMES_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Guest:
    """A person without an account. The browser holds the key in a signed cookie."""

    key: str
    pk: None = None


Player = Person | Guest


@dataclass(frozen=True, slots=True)
class Opponents:
    """The submissions that a person may play against."""

    house: list[Submission]
    own: list[Submission]
    others: list[Submission]

    def all(self) -> list[Submission]:
        return [*self.house, *self.own, *self.others]


class PracticeProgress(NamedTuple):
    """The states, numbers and counts that change with each step of a practice game."""

    pk: int
    status: str
    fence: int
    ply: int | None
    answer_ply: int | None
    moves: int
    forfeits: int


def belongs_to(player: Player) -> Q:
    """Return the condition for the rows of a person, by `owner` or `guest`."""
    if isinstance(player, Guest):
        return Q(guest=player.key)
    return Q(owner=player.pk, owner__isnull=False)


def games_of(player: Player) -> QuerySet[PracticeGame]:
    """Return the practice games of a person, newest first, without their replays."""
    sitting = PracticeOpponent.objects.select_related("submission__bot")
    return (
        PracticeGame.objects.filter(belongs_to(player))
        .prefetch_related(Prefetch("opponents", sitting))
        .select_related("owner")
        .defer("replay")
        .order_by("-pk")
    )


def open_game(player: Player) -> PracticeGame | None:
    return games_of(player).filter(status__in=OPEN_PRACTICE).first()


def progress(player: Player, pk: int) -> PracticeProgress | None:
    """Return how far a game of a person is, or None if there is no such game.

    A page asks for it all the time, so it is one query without the opponents.
    """
    rows = PracticeGame.objects.filter(belongs_to(player), pk=pk)
    fields = ("status", "fence", "ply", "answer_ply", Count("moves"), "forfeits")
    row = rows.values_list(*fields).first()
    if row is None:
        return None
    status, fence, ply, answer_ply, moves, forfeits = row
    return PracticeProgress(pk, status, fence, ply, answer_ply, moves, len(forfeits))


def moves(pk: int) -> list[PracticeMove]:
    """Return the moves of an open game, in order. Its end deletes them."""
    return list(PracticeMove.objects.filter(game=pk).order_by("index"))


def sitting(game: PracticeGame) -> QuerySet[PracticeOpponent]:
    """Return the bots of a game, without what the hosts of games may not read."""
    private = [f"submission__{column}" for column in PRIVATE]
    return game.opponents.select_related("submission__bot").defer(*private)


def opponents(person: Player) -> Opponents:
    """Return the bots that a person may play against, by kind and name.

    Guests play against house bots only.
    """
    ready = bots.playing().select_related("bot").defer("log", "report")
    ready = ready.order_by("bot__name", "-number")
    house = list(ready.filter(bot__house=True)[:MAX_OFFERED])
    if isinstance(person, Guest):
        return Opponents(house, [], [])
    own = Submission.objects.filter(
        status=Submission.Status.READY, bot__owner=person.pk, bot__owner__isnull=False
    )
    own = own.exclude(bot__status=Bot.Status.BANNED).select_related("bot")
    own = own.defer("log", "report").order_by("bot__name", "-number")
    others = ready.filter(bot__open_to_practice=True, bot__house=False)
    return Opponents(
        house,
        list(own[:MAX_OFFERED]),
        list(others.exclude(bot__owner=person.pk)[:MAX_OFFERED]),
    )


def without_ruleset(submissions: Sequence[Submission], ruleset: str) -> set[int]:
    """Return the bots of other people that play on no ladder with this ruleset.

    They were never tried with it. House bots play every ruleset.
    """
    tried = Membership.objects.filter(
        bot=OuterRef("pk"),
        ladder__ruleset=ruleset,
        status__in=[Membership.Status.ACTIVE, Membership.Status.BENCHED],
    )
    keys = [submission.bot_id for submission in submissions]
    rows = Bot.objects.filter(~Exists(tried), pk__in=keys, house=False)
    return set(rows.values_list("pk", flat=True))


def waiting_count() -> int:
    return PracticeGame.objects.filter(status=PracticeStatus.WAITING).count()


def place_in_queue(game: int) -> int:
    """Return the place of the waiting game with this number, from 1."""
    waiting = PracticeGame.objects.filter(status=PracticeStatus.WAITING)
    queue = list(waiting.order_by(*QUEUE_ORDER).values_list("pk", flat=True))
    return queue.index(game) + 1 if game in queue else 1  # it begins at this moment


def games_in_the_last_hour(person: Person) -> int:
    recent = PracticeGame.objects.filter(owner=person.pk, created_at__gt=Now() - HOUR)
    return recent.count()


def games_left(person: Person) -> int:
    """Return how many games the person may still begin in this hour."""
    most: int = settings.TORRES_PRACTICE_PER_HOUR
    return max(0, most - games_in_the_last_hour(person))


def is_switched_on() -> bool:
    """True if this service offers practice games."""
    return bool(settings.TORRES_PRACTICE_SLOTS)


def host_is_alive() -> bool:
    """True if a host of practice games has reported lately."""
    host = ServicePart.objects.filter(
        name=service_parts.PRACTICE, seen_at__gt=Now() - service_parts.SILENT_AFTER
    )
    return host.exists()


def claimable() -> Q:
    """Return the condition for games that a host can claim now."""
    lost = Q(leases.is_over(), status=PracticeStatus.RUNNING)
    return Q(status=PracticeStatus.WAITING) | lost


def question(game: PracticeGame) -> TorresGame | None:
    """Return the position that waits for the person's answer, or None.

    The row is read before the moves. If the host has continued meanwhile, the numbers
    differ. Then the answer is None, and the next request finds them equal.
    """
    return asked(game, played(game, moves(game.pk))) if _waits(game) else None


def asked(game: PracticeGame, torres: TorresGame) -> TorresGame | None:
    """Return a position if the person is asked in it, and otherwise None."""
    is_asked = torres.ply == game.ply and torres.seat == game.person_seat
    return torres if is_asked and _waits(game) else None


def _waits(game: PracticeGame) -> bool:
    is_running = game.status == PracticeStatus.RUNNING
    return is_running and game.ply is not None and game.answer_ply != game.ply
