"""Small questions that templates ask."""

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


@register.filter
def percent(share: float) -> str:
    """Write a probability; one that is nearly certain is not called certain."""
    if 0 < share < 0.01:
        return "<1\xa0%"
    if 0.99 < share < 1:
        return ">99\xa0%"
    return f"{100 * share:.0f}\xa0%"


@register.filter
def signed(value: float | None) -> str:
    """Write a difference with its sign; a real minus, as wide as a plus."""
    if value is None:
        return "–"
    text = f"{abs(value):.2f}"
    return text if text == "0.00" else f"{'+' if value > 0 else '−'}{text}"


@register.filter
def arrow(value: float | None) -> str:
    """Draw where it went; the number beside it says so, too."""
    if value is None or abs(value) < 0.005:
        return ""
    return "▲" if value > 0 else "▼"


@register.filter
def spaced(word: str) -> str:
    """Write a name of the code for people."""
    return word.replace("_", " ").capitalize()
