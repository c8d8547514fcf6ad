"""Types for the arguments of commands: numbers within limits.

Without a type, a number that makes no sense starts a service that fails, or a run
without end.
"""

import math
from argparse import ArgumentTypeError
from collections.abc import Callable

SHOWN_CHARS = 40


def whole_number(least: int, most: int) -> Callable[[str], int]:
    """Return a type that accepts the whole numbers from `least` to `most`."""

    def convert(word: str) -> int:
        digits = word.removeprefix("-")
        valid = digits.isascii() and digits.isdigit() and len(word) <= SHOWN_CHARS
        if not valid or not least <= int(word) <= most:
            raise ArgumentTypeError(
                f"{word[:SHOWN_CHARS]!r} is no whole number from {least:,} to {most:,}."
            )
        return int(word)

    return convert


def decimal(least: float, most: float) -> Callable[[str], float]:
    """Return a type that accepts the numbers from `least` to `most`."""

    def convert(word: str) -> float:
        try:
            value = float(word[:SHOWN_CHARS])
        except ValueError:
            value = math.nan
        if not least <= value <= most:
            raise ArgumentTypeError(
                f"{word[:SHOWN_CHARS]!r} is no number from {least:g} to {most:g}."
            )
        return value

    return convert
