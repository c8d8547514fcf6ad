"""The description of a ladder, checked before it is used.

The command that starts a season and the matchmaker use `check_ladder`. The database can
still hold a wrong row, because a person may write it with SQL; then the matchmaker
stops this ladder only.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from engine.errors import EngineError
from engine.rulesets import MAX_SEATS, MIN_SEATS, resolve
from torres.common.errors import BadFields
from torres.common.quoting import quoted
from torres.runner.limits import BadLimits, read_limits

MAX_SHARE = 1_000_000.0


class BadLadder(BadFields, code="bad-ladder"):
    """The ladder cannot be played as it is described; the message says why."""


@dataclass(frozen=True, slots=True)
class LadderDescription:
    """The fields of a ladder that people write, as they are stored."""

    ruleset: str
    switches: Any
    tables: Any
    limits: Any
    opens_at: datetime | None = None
    closes_at: datetime | None = None


def read_tables(document: object) -> dict[str, float]:
    """Return the share of matches by the number of seats. Raises BadLadder.

    The keys stay texts, as in JSON: "2", "3" and "4".
    """
    example = '{"2": 0.4, "3": 0.2, "4": 0.4}'
    if not isinstance(document, Mapping) or not document:
        raise BadLadder(
            [f"tables: {quoted(document)}; it must be an object such as {example}"]
        )
    known = [str(seats) for seats in range(MIN_SEATS, MAX_SEATS + 1)]
    for seats, share in document.items():
        if seats not in known:
            why = f"{quoted(seats)} seats; the keys are {', '.join(known)}"
            raise BadLadder([f"tables: {why}, as in {example}"])
        # NaN is in no interval, and an infinite share is above the largest one.
        if type(share) not in (int, float) or not 0 <= share <= MAX_SHARE:
            why = f"{seats}: {quoted(share)}; it must be a number from 0"
            raise BadLadder([f"tables: {why}, as in {example}"])
    if not any(document.values()):
        raise BadLadder(
            [f"tables: at least one share must be above 0, as in {example}"]
        )
    return {seats: float(share) for seats, share in document.items()}


def ladder_problems(ladder: LadderDescription) -> list[str]:
    """Return what is wrong with a description; each text starts with the field."""
    problems = []
    seats = [MIN_SEATS]
    try:
        seats = [int(key) for key in read_tables(ladder.tables)]
    except BadLadder as error:
        problems.append(str(error))
    problems += rules_problems(ladder.ruleset, ladder.switches, seats)
    try:
        read_limits(ladder.limits)
    except BadLimits as error:
        problems.append(str(error))
    if ladder.opens_at and ladder.closes_at and ladder.opens_at >= ladder.closes_at:
        problems.append("closes_at: it must be later than opens_at")
    return problems


def rules_problems(ruleset: str, switches: object, seats: Iterable[int]) -> list[str]:
    """Return what is wrong with a ruleset and its switches at tables of ``seats``."""
    if not isinstance(switches, Mapping):
        return [f"switches: {quoted(switches)}; it must be an object, for example {{}}"]
    try:
        for count in seats:
            resolve(ruleset, count, dict(switches))
    except EngineError as error:
        return [f"{_field_of(ruleset)}: {error}"]
    return []


def _field_of(ruleset: str) -> str:
    """Return the field that caused an error: the ruleset if it does not exist."""
    try:
        resolve(ruleset, MIN_SEATS, {})
    except EngineError:
        return "ruleset"
    return "switches"


def check_ladder(ladder: LadderDescription) -> None:
    """Raise BadLadder with everything that is wrong."""
    if problems := ladder_problems(ladder):
        raise BadLadder(problems)
