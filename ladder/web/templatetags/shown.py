"""Small questions that templates ask of a game."""

from datetime import datetime

from django.template import Library

from ladder.games.models import Game, Seat

register = Library()


@register.filter
def by_rank(game: Game) -> list[Seat]:
    return sorted(game.seats.all(), key=lambda seat: (seat.rank or 0, seat.number))


@register.filter
def when(game: Game) -> datetime:
    return game.finished_at or game.started_at or game.created_at
