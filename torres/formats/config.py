"""The configuration of a tournament: checked once, then an immutable value.

The keys are the same in the TOML file of `torres tournament` and in the JSON that the
service stores in `Tournament.config`. docs/tournaments.md explains them to organisers.
This module does not know rulesets or limits; those belong to the match.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from math import ceil, log2
from typing import Any, TypeVar

from engine.rulesets import MAX_SEATS, MIN_SEATS
from torres.common.errors import LadderError
from torres.common.quoting import quoted

Choice = TypeVar("Choice", bound=StrEnum)
MAX_POINTS = 1_000
"""The largest number of points for a rank. A result is stored as a short fraction."""
MAX_POINT_CHARS = 8
MAX_FIXTURES = 25_000
"""The largest schedule that is written at once: a round robin of 224 entrants. A larger
one would stop the dispatcher for minutes."""
MAX_ENTRANTS = 1_024


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


class BadConfig(LadderError, code="bad-config", http_status=422):
    """The configuration cannot be played; the message says which key to change."""


@dataclass(frozen=True, slots=True)
class Config:
    """How a tournament is played.

    - ``seats``: entrants at one table, 2 to 4. With ``duplicate`` a match has one game
      for each rotation of the seats, all with the same decks. With ``shared_deals`` so
      have all matches of a round that can be scheduled at once.
    - ``rounds``: the rounds of a Swiss, or of a round robin with more than two seats;
      in a round robin of two seats the number of cycles. 0 is the format's default.
    - ``best_of``: matches of one contest of an elimination; ``best_of_final`` those of
      its final. With ``reset`` the winner of the losers' bracket must win the grand
      final twice.
    - ``groups``: number of groups; the first ``advance`` of each group play the
      ``final``, which is an elimination.
    - ``points`` by rank at a table, best first. Empty means the share of opponents
      beaten.
    - ``tie_breaks``: applied in this order to entrants with equal points.
    """

    format: Format
    seats: int = 2
    duplicate: bool = True
    shared_deals: bool = False
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
        """Return the configured number of rounds, or log2 of the entrants, rounded up.

        The default is enough that at most one entrant can win all its matches.
        """
        return self.rounds or max(1, ceil(log2(max(2, entrants))))


def max_entrants(config: Config) -> int:
    """Return how many entrants can play a tournament of this configuration."""
    if config.format in (*ELIMINATIONS, Format.SWISS):
        return MAX_ENTRANTS
    groups = config.groups if config.format == Format.GROUPS else 1
    largest = 2
    while largest < MAX_ENTRANTS:
        if groups * _fixtures(config, ceil((largest + 1) / groups)) > MAX_FIXTURES:
            break
        largest += 1
    return largest


def _fixtures(config: Config, entrants: int) -> int:
    """Return the number of fixtures of a round robin, rests included, at most."""
    if config.seats == 2:
        return max(1, config.rounds) * entrants * (entrants - 1) // 2
    rounds = config.rounds or 2 * entrants
    return rounds * (entrants // config.seats + config.seats)


def read_config(document: object) -> Config:
    """Return the configuration that a TOML or JSON document describes.

    Raises BadConfig.
    """
    if not isinstance(document, Mapping):
        raise BadConfig(
            f"config: {quoted(document)}; it must be an object with the format, for"
            ' example {"format": "swiss", "rounds": 5}'
        )
    unknown = set(document) - set(Config.__dataclass_fields__)
    if unknown:
        raise BadConfig(
            f"unknown key: {', '.join(quoted(key) for key in unknown)};"
            f" the keys are {', '.join(Config.__dataclass_fields__)}"
        )
    form = _choice(Format, document.get("format", "swiss"), "format")
    seats = _integer(document, "seats", 2, MIN_SEATS, MAX_SEATS)
    best_of = _integer(document, "best_of", 1, 1, 99)
    config = Config(
        format=form,
        seats=seats,
        duplicate=_boolean(document, "duplicate", default=True),
        shared_deals=_boolean(document, "shared_deals", default=False),
        rounds=_integer(document, "rounds", 0, 0, 1000),
        best_of=best_of,
        best_of_final=_integer(document, "best_of_final", best_of, 1, 99),
        reset=_boolean(document, "reset", default=True),
        groups=_integer(document, "groups", 2, 1, 256),
        advance=_integer(document, "advance", 2, 1, 64),
        final=_choice(Format, document.get("final", "single_elimination"), "final"),
        points=_points(document.get("points", []), seats),
        tie_breaks=_tie_breaks(document.get("tie_breaks"), form),
    )
    _check_combination(config)
    return config


def _check_combination(config: Config) -> None:
    if config.format in ELIMINATIONS and config.seats != 2:
        raise BadConfig(
            f"seats: {config.seats}; an elimination has two seats at a table; for more"
            " seats use round_robin, swiss or groups"
        )
    if config.format == Format.GROUPS and config.final not in ELIMINATIONS:
        raise BadConfig(
            f"final: {config.final}; the final of groups must be"
            f" {' or '.join(ELIMINATIONS)}"
        )
    for name, best_of in (
        ("best_of", config.best_of),
        ("best_of_final", config.best_of_final),
    ):
        if best_of % 2 == 0:
            raise BadConfig(f"{name}: {best_of}; it must be an odd number")


def _choice(kind: type[Choice], value: object, name: str) -> Choice:
    try:
        return kind(str(value))
    except ValueError:
        raise BadConfig(
            f"{name}: {quoted(value)}; it must be one of {', '.join(kind)}"
        ) from None


def _integer(
    document: Mapping[str, Any], name: str, default: int, minimum: int, maximum: int
) -> int:
    value = document.get(name, default)
    # Not isinstance: True is an int in Python, but not in TOML or JSON.
    if type(value) is not int or not minimum <= value <= maximum:
        raise BadConfig(
            f"{name}: {quoted(value)}; it must be a whole number from {minimum} to"
            f" {maximum}"
        )
    return value


def _boolean(document: Mapping[str, Any], name: str, *, default: bool) -> bool:
    value = document.get(name, default)
    if not isinstance(value, bool):
        raise BadConfig(f"{name}: {quoted(value)}; it must be true or false")
    return value


def _points(value: object, seats: int) -> tuple[Fraction, ...]:
    """Return the points by rank, decimals such as 0.1 as exact fractions."""
    if value in ([], ()):
        return ()
    message = (
        f"points: {quoted(value)}; it must be a list of {seats} numbers, highest first"
    )
    if not isinstance(value, list | tuple):
        raise BadConfig(message)
    if any(type(point) not in (int, float, str) for point in value):
        raise BadConfig(message)
    if any(len(str(point)) > MAX_POINT_CHARS for point in value):
        raise BadConfig(message)
    try:
        points = tuple(Fraction(str(point)) for point in value)
    except (ValueError, ZeroDivisionError):
        raise BadConfig(message) from None
    if any(abs(p) > MAX_POINTS or p.denominator > MAX_POINTS for p in points):
        raise BadConfig(message)
    if len(points) != seats or list(points) != sorted(points, reverse=True):
        raise BadConfig(message)
    return points


def _tie_breaks(value: object, form: Format) -> tuple[TieBreak, ...]:
    if value is None:
        return SWISS_BREAKS if form == Format.SWISS else ROUND_ROBIN_BREAKS
    if not isinstance(value, list | tuple):
        raise BadConfig(f"tie_breaks: {quoted(value)}; it must be a list of names")
    return tuple(_choice(TieBreak, name, "tie_breaks") for name in value)
