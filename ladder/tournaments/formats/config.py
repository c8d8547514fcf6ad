"""The configuration of a tournament: read once, checked once, a frozen value after.

The same words stand in the TOML file of `torres tournament` and in the JSON that the
service stores.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from math import ceil, log2
from typing import Any, TypeVar

Word = TypeVar("Word", bound=StrEnum)

MAX_SEATS = 4
TWO = 2


class Format(StrEnum):
    ROUND_ROBIN = "round_robin"
    SWISS = "swiss"
    SINGLE_ELIMINATION = "single_elimination"
    DOUBLE_ELIMINATION = "double_elimination"
    GROUPS = "groups"


class TieBreak(StrEnum):
    DIRECT_ENCOUNTER = "direct_encounter"
    BUCHHOLZ = "buchholz"
    MEDIAN_BUCHHOLZ = "median_buchholz"
    SONNEBORN_BERGER = "sonneborn_berger"
    WINS = "wins"
    SCORE = "score"


ELIMINATIONS = (Format.SINGLE_ELIMINATION, Format.DOUBLE_ELIMINATION)
SWISS_BREAKS = (
    TieBreak.DIRECT_ENCOUNTER,
    TieBreak.BUCHHOLZ,
    TieBreak.MEDIAN_BUCHHOLZ,
    TieBreak.SONNEBORN_BERGER,
    TieBreak.WINS,
    TieBreak.SCORE,
)
ROUND_ROBIN_BREAKS = (
    TieBreak.DIRECT_ENCOUNTER,
    TieBreak.SONNEBORN_BERGER,
    TieBreak.WINS,
    TieBreak.SCORE,
)


class BadConfig(ValueError):
    """The configuration says something that cannot be played; one sentence why."""


@dataclass(frozen=True, slots=True)
class Config:
    """How a tournament is played.

    ``seats`` at a table. With ``duplicate`` a match has one game for each rotation of
    the seats, all with the same decks. ``rounds`` of a Swiss, of a round robin with
    more than two seats, or how often two meet (0: the default of the format).
    ``best_of`` matches decide a contest, ``best_of_final`` the final; with ``reset``
    the winner of the losers must win the grand final twice. ``advance`` of each of
    ``groups`` go on to the ``final``.
    ``points`` by rank at a table; empty is the share of opponents beaten.
    """

    format: Format
    seats: int = 2
    duplicate: bool = True
    rounds: int = 0
    best_of: int = 1
    best_of_final: int = 1
    reset: bool = True
    groups: int = 2
    advance: int = 2
    final: Format = Format.SINGLE_ELIMINATION
    points: tuple[Fraction, ...] = ()
    tie_breaks: tuple[TieBreak, ...] = SWISS_BREAKS

    def swiss_rounds(self, entrants: int) -> int:
        """Return the number of rounds: as asked, else enough to find one winner."""
        return self.rounds or max(1, ceil(log2(max(2, entrants))))


def read(given: Mapping[str, Any]) -> Config:
    """Return the configuration. Raises BadConfig with one sentence that says why."""
    unknown = set(given) - set(Config.__dataclass_fields__)
    if unknown:
        raise BadConfig(f"unknown: {', '.join(sorted(unknown))}")
    form = _one_of(Format, given.get("format", "swiss"), "format")
    seats = _number(given, "seats", 2, 2, MAX_SEATS)
    best_of = _number(given, "best_of", 1, 1, 99)
    config = Config(
        format=form,
        seats=seats,
        duplicate=_flag(given, "duplicate", default=True),
        rounds=_number(given, "rounds", 0, 0, 1000),
        best_of=best_of,
        best_of_final=_number(given, "best_of_final", best_of, 1, 99),
        reset=_flag(given, "reset", default=True),
        groups=_number(given, "groups", 2, 1, 256),
        advance=_number(given, "advance", 2, 1, 64),
        final=_one_of(Format, given.get("final", "single_elimination"), "final"),
        points=_points(given.get("points", []), seats),
        tie_breaks=_tie_breaks(given.get("tie_breaks"), form),
    )
    _check_together(config)
    return config


def _check_together(config: Config) -> None:
    if config.format in ELIMINATIONS and config.seats != TWO:
        raise BadConfig(
            "an elimination is played at tables of two seats; for more seats take"
            " round_robin, swiss or groups with a round_robin"
        )
    if config.format == Format.GROUPS and config.final not in ELIMINATIONS:
        raise BadConfig("final: the groups are followed by an elimination")
    if config.best_of % 2 == 0 or config.best_of_final % 2 == 0:
        raise BadConfig("best_of: an odd number, so that somebody wins")


def _one_of(kind: type[Word], word: object, name: str) -> Word:
    try:
        return kind(str(word))
    except ValueError:
        raise BadConfig(f"{name}: {word!r}; one of {', '.join(kind)}") from None


def _number(
    given: Mapping[str, Any], name: str, default: int, least: int, most: int
) -> int:
    value = given.get(name, default)
    if type(value) is not int or not least <= value <= most:
        raise BadConfig(f"{name}: {value!r}; a whole number from {least} to {most}")
    return value


def _flag(given: Mapping[str, Any], name: str, *, default: bool) -> bool:
    value = given.get(name, default)
    if not isinstance(value, bool):
        raise BadConfig(f"{name}: {value!r}; true or false")
    return value


def _points(given: object, seats: int) -> tuple[Fraction, ...]:
    """Read points by rank; decimals are taken as they are written."""
    if not isinstance(given, list | tuple):
        raise BadConfig("points: a list, best rank first")
    if not given:
        return ()
    if any(type(point) not in (int, float, str) for point in given):
        raise BadConfig("points: numbers, best rank first")
    try:
        points = tuple(Fraction(str(point)) for point in given)
    except (ValueError, ZeroDivisionError):
        raise BadConfig("points: numbers, best rank first") from None
    if len(points) != seats or list(points) != sorted(points, reverse=True):
        raise BadConfig(f"points: {seats} numbers, best rank first")
    return points


def _tie_breaks(given: object, form: Format) -> tuple[TieBreak, ...]:
    if given is None:
        return SWISS_BREAKS if form == Format.SWISS else ROUND_ROBIN_BREAKS
    if not isinstance(given, list | tuple):
        raise BadConfig("tie_breaks: a list of names")
    return tuple(_one_of(TieBreak, word, "tie_breaks") for word in given)
