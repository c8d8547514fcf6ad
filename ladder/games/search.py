"""Search for games by the seats that took part in them.

All conditions about one side are about the same seat: "the games that Ana's bots won"
are the games that a seat with one of her bots has won.
"""

from enum import StrEnum

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, Q, QuerySet

from ladder.bots.models import Bot, Submission
from ladder.games.models import Game, GameStatus, Seat

SeatCondition = Q | Exists


class SeatOutcome(StrEnum):
    """The result of a finished game for one seat.

    A seat has won if it is first alone, tied if it shares the first rank, and lost
    otherwise. A seat that forfeited has mostly lost, too.
    """

    WON = "won"
    LOST = "lost"
    TIED = "tied"
    FORFEITED = "forfeited"


def seat_of(
    bot: Bot | None, owner: User | None, submission: Submission | None
) -> list[Q]:
    """Return the conditions that the seat belongs to all who are named."""
    conditions = []
    if bot is not None:
        conditions.append(Q(seats__bot=bot))
    if owner is not None:
        # The numbers themselves, so that the database knows how frequent they are.
        own = list(Bot.objects.filter(owner=owner).values_list("pk", flat=True))
        conditions.append(Q(seats__bot__in=own))
    if submission is not None:
        conditions.append(Q(seats__submission=submission))
    return conditions


def seat_with(outcome: SeatOutcome) -> list[SeatCondition]:
    """Return the conditions that the seat ended so, in a game that counts."""
    conditions: list[SeatCondition] = [Q(status=GameStatus.FINISHED)]
    match outcome:
        case SeatOutcome.WON:
            conditions.append(Q(seats__rank=1, seats__tied=False))
        case SeatOutcome.TIED:
            conditions.append(Q(seats__rank=1, seats__tied=True))
        case SeatOutcome.LOST:
            conditions.append(Q(seats__rank__gt=1))
        case SeatOutcome.FORFEITED:
            conditions.append(Q(seats__fault__gt=""))
    return conditions


def seat_against(opponent: Bot) -> Exists:
    """Return the condition that a bot had another seat of the same game."""
    others = Seat.objects.filter(game=OuterRef("pk"), bot=opponent)
    return Exists(others.exclude(number=OuterRef("seats__number")))


def with_seat(games: QuerySet[Game], conditions: list[SeatCondition]) -> QuerySet[Game]:
    """Return the games with a seat that fulfils all conditions, each game once.

    All conditions are in one call, because each call would look for a seat of its own.
    """
    return games.filter(*conditions).distinct()


def with_bot(games: QuerySet[Game], bot: Bot) -> QuerySet[Game]:
    """Return the games in which a bot has a seat; see `with_seat`.

    For a bot of whom no other condition speaks. It is a join, because PostgreSQL knows
    from its statistics how many rows are left by a join, but not by `seat_against`.
    """
    return games.filter(seats__bot=bot).distinct()
