"""Template filters that sort and format values."""

from datetime import UTC, datetime
from fractions import Fraction
from functools import lru_cache

from django.template import Library
from django.template.defaultfilters import floatformat
from django.urls import get_script_prefix, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_noop

from engine.editions import PRESETS
from ladder.common import stored_texts
from ladder.games.models import Game, Seat
from ladder.tournaments.cross_tables import VisibleMeeting

register = Library()
MINUS = "−"
"""It is as wide as a plus, unlike a hyphen."""
MAX_KNOWN_ADDRESSES = 20_000
MAX_KNOWN_NUMBERS = 20_000
VULGAR = {
    Fraction(1, 2): "½",
    Fraction(1, 3): "⅓",
    Fraction(2, 3): "⅔",
    Fraction(1, 4): "¼",
    Fraction(3, 4): "¾",
}
TURNS_WITH = {
    "add": gettext_noop("New knight"),
    "block": gettext_noop("Block placed"),
    "buy": gettext_noop("Purchase"),
    "move": gettext_noop("Knight moved"),
    "play": gettext_noop("Card played"),
    "score": gettext_noop("Points taken"),
}


@register.filter
def bot_address(slug: str) -> str:
    """Return the address of the page of a bot.

    A list links to many bots, and the tag `url` was a third of the time to render it.
    """
    return _address("bot-page", slug, get_script_prefix())


@register.filter
def game_address(game: int) -> str:
    """Return the address of the page of a game. For lists, as `bot_address`."""
    return _address("game-page", game, get_script_prefix())


@lru_cache(MAX_KNOWN_ADDRESSES)
def _address(page: str, key: str | int, _prefix: str) -> str:
    """Return an address below the prefix of this request."""
    return reverse(page, args=[key])


@register.filter
def by_rank(game: Game) -> list[Seat]:
    """Return the seats of a game, best rank first."""
    return sorted(game.seats.all(), key=lambda seat: (seat.rank or 0, seat.number))


@register.filter
def translated(text: str) -> str:
    """Return one of our texts that lies in a row or comes from `torres`, translated.

    A text that is in no catalogue stays as it is.
    """
    return stored_texts.translated(text)


@register.filter
def lowered(text: str) -> str:
    """Begin a text with a small letter, to go on with it in a line."""
    return text[:1].lower() + text[1:]


@register.filter
def when(game: Game) -> datetime:
    """Return the latest time that is known of a game."""
    return game.finished_at or game.started_at or game.created_at


@register.filter
def edition(ruleset: str) -> str:
    """Return the name of an edition for people; the identifier if it is unknown."""
    preset = PRESETS.get(ruleset)
    return gettext(preset.name) if preset else ruleset


@register.filter
def moment(at: datetime | None, precision: str = "minutes") -> str:
    """Return a time as HTML, in UTC; `times.js` shows it in the reader's time zone."""
    if at is None:
        return ""
    text = at.astimezone(UTC).isoformat(" ", precision).removesuffix("+00:00")
    return format_html('<time datetime="{}">{} UTC</time>', at.isoformat(), text)


@register.filter
def day(at: datetime | None) -> str:
    """Return the day of a time as HTML, in UTC; `times.js` shows it as `moment`."""
    if at is None:
        return ""
    text = f"{at.astimezone(UTC):%Y-%m-%d}"
    return format_html('<time datetime="{}" data-day>{}</time>', at.isoformat(), text)


@register.filter
def percent(share: float) -> str:
    """Format a probability. It never becomes 0 % or 100 % by rounding alone."""
    if 0 < share < 0.01:
        return "<1\xa0%"
    if 0.99 < share < 1:
        return ">99\xa0%"
    return f"{100 * share:.0f}\xa0%"


@register.filter
def decimals(value: float, digits: int) -> str:
    """Format a number with this number of decimals. `floatformat` is slow in lists."""
    return f"{value:.{digits}f}".replace("-", MINUS)


@register.filter
@lru_cache(MAX_KNOWN_NUMBERS)
def short(value: float, digits: int) -> str:
    """Format a number with this number of decimals, or none if it is whole.

    For lists: `floatformat` with a negative number is the same, but much slower.
    """
    return str(floatformat(value, -digits)).replace("-", MINUS)


@register.filter
def signed(value: float | None) -> str:
    """Format a difference with its sign."""
    if value is None:
        return "–"
    text = f"{abs(value):.2f}"
    return text if text == "0.00" else f"{'+' if value > 0 else MINUS}{text}"


@register.filter
def signed_whole(value: int) -> str:
    """Format a whole difference with its sign."""
    return f"{MINUS if value < 0 else '+' if value else ''}{abs(value)}"


@register.filter
def twice(error: float) -> str:
    """Format twice a standard error, the half of a 95 % interval."""
    return f"{2 * error:.1f}"


@register.filter
def arrow(value: float | None) -> str:
    """Return an arrow for the direction of a change, empty if it rounds to 0.00."""
    if value is None or abs(value) < 0.005:
        return ""
    return "▲" if value > 0 else "▼"


@register.filter
def trend(value: float | None) -> str:
    """Return a change as HTML, with an arrow.

    For lists: to include a template in each row was a tenth of the time of a page.
    """
    direction = arrow(value)
    style = {"▲": " up", "▼": " down"}.get(direction, "")
    return format_html(
        '<span class="trend{}"><span aria-hidden="true">{}</span> {}</span>',
        style,
        direction,
        signed(value),
    )


@register.filter
def spaced(word: str) -> str:
    """Turn an identifier into words, for example "round_robin" into "Round robin"."""
    return word.replace("_", " ").capitalize()


@register.filter
def turns_with(group: str) -> str:
    """Name the turns of a phase, or those with a kind of action."""
    if group in TURNS_WITH:
        return gettext(TURNS_WITH[group])
    return gettext("Phase %(phase)s") % {"phase": group}


@register.filter
def duration(seconds: float) -> str:
    """Format a duration in the unit that fits, for example "8 s" or "3 min"."""
    if seconds < 1:
        return gettext("less than 1\xa0s")
    if seconds < 90:
        return f"{seconds:.0f}\xa0s"
    if seconds < 5400:
        return f"{seconds / 60:.0f}\xa0min"
    return f"{seconds / 3600:.0f}\xa0h"


@register.filter
def as_percent(share: float) -> str:
    """Return a share of 1 as the width of a picture, in percent."""
    return f"{100 * share:.1f}"


@register.filter
def share_of(part: int, whole: int) -> str:
    """Return the share of a count as the width of a picture, in percent."""
    return as_percent(part / whole if whole else 0.0)


@register.filter
def meetings(cell: list[VisibleMeeting]) -> SafeString:
    """Return the meetings of a cell of a cross table as HTML, for up to 1,000 cells."""
    return SafeString("".join(map(_meeting, cell)))


def _meeting(meeting: VisibleMeeting) -> SafeString:
    points = vulgar(meeting.points)
    if meeting.match:
        address = _address("match-page", meeting.match, get_script_prefix())
        return format_html('<a href="{}">{}</a>', address, points)
    return _meeting_without_match(points, meeting.note)


@lru_cache(MAX_KNOWN_NUMBERS)
def _meeting_without_match(points: str, note: str) -> SafeString:
    return format_html(
        '<span class="soft">{}<span class="hidden"> {}</span></span>', points, note
    )


@register.filter
@lru_cache(MAX_KNOWN_NUMBERS)
def vulgar(points: str) -> str:
    """Write an exact number of points with a sign for its fraction: "3/2" as "1½"."""
    whole, rest = divmod(Fraction(points), 1)
    if not rest:
        return str(whole)
    if whole < 0 or rest not in VULGAR:
        return points
    return f"{whole or ''}{VULGAR[rest]}"
