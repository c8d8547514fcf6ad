"""The thoughts of a bot: its public ``say``, and ``expect``, its own chance to win.

An answer may carry both. They are shown with the game once it is over. A thought of a
wrong form is ignored and never a fault: a bot may have used these keys for itself.
"""

from dataclasses import dataclass

import msgspec

MAX_SAY_CHARS = 200
MAX_SAID_CHARS = 4_000  # of one seat in one game; the page of a game must stay small


@dataclass(frozen=True, slots=True)
class Thought:
    """One thought. ``expect`` is a probability with three digits.

    ``say`` is one line of printable characters, and empty if the bot said nothing.
    """

    say: str = ""
    expect: float | None = None


def decode(raw: bytes) -> object:
    """Return the value of a key that may be missing or not readable; then None."""
    try:
        return msgspec.json.decode(raw) if raw else None
    except (msgspec.DecodeError, UnicodeError, RecursionError, ValueError):
        return None


def thought_of(say: object, expect: object) -> Thought | None:
    """Return the thought in two values of strangers, or None if they hold none.

    White space becomes one space, and characters that are not printable are left out,
    so that a text can neither move the cursor of a terminal nor turn the direction of
    the text around it.
    """
    thought = Thought(_line(say), _chance(expect))
    return None if thought == Thought() else thought


def _line(say: object) -> str:
    if not isinstance(say, str):
        return ""
    words = " ".join(say[: 4 * MAX_SAY_CHARS].split())
    return "".join(filter(str.isprintable, words))[:MAX_SAY_CHARS]


def _chance(expect: object) -> float | None:
    if isinstance(expect, bool) or not isinstance(expect, int | float):
        return None
    return round(float(expect), 3) if 0 <= expect <= 1 else None
