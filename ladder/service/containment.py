"""Contain the failures of the dispatcher's units of work.

A unit is, for example, one tournament or the ratings of one ladder. One wrong row must
not stop the others, so the dispatcher runs each unit through `Containment.run`:

- A unit that raises is stopped: it is logged once with its traceback, stored for
  operators, and tried again after RETRY_S. When it works again, its row is removed.
- A unit that lost a race against another dispatcher is simply tried again. It counts as
  stopped only after MAX_CONFLICTS in a row.
- If the database cannot be reached, or another dispatcher leads, no unit is to blame,
  and the error is passed on.
"""

import time
import traceback
from collections import Counter
from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple, TypeVar

import psycopg
import structlog
from django.db import (
    Error,
    IntegrityError,
    InterfaceError,
    OperationalError,
    connection,
)

from ladder.common import statement_limits
from ladder.common.storable import storable
from ladder.moderation.models import MAX_ERROR_LENGTH, StoppedUnit
from torres.common.errors import Conflict, LadderError

RETRY_S = 10.0
MAX_CONFLICTS = 20
MAX_TRACEBACK_CHARS = 8_000
HTTP_CONFLICT = 409

T = TypeVar("T")
log = structlog.get_logger()


class LostLeadership(Exception):
    """Another dispatcher leads, so no unit of this one may go on."""


class UnitKind(StrEnum):
    RATINGS = "ratings"
    MATCHMAKING = "matchmaking"
    TOURNAMENT = "tournament"
    COMPARISON = "comparison"
    PART = "part"


ADVICE = {
    UnitKind.RATINGS: "The ratings of this ladder are not brought up to date. Read the"
    " traceback in the admin (Stopped units), run manage.py rebuild_ratings --check,"
    " and correct the row that it names.",
    UnitKind.MATCHMAKING: "This ladder makes no matches. Correct it with manage.py"
    " operator edit_ladder, or freeze its season with manage.py operator freeze.",
    UnitKind.TOURNAMENT: "This tournament is stopped. Correct it with manage.py"
    " operator edit_tournament, or cancel it with manage.py operator"
    " tournament_cancel.",
    UnitKind.COMPARISON: "This comparison of two versions is stopped. Cancel it with"
    " manage.py operator cancel_comparison.",
    UnitKind.PART: "This part of the dispatcher fails. Read the traceback in the admin"
    " (Stopped units) and correct its cause.",
}


class Unit(NamedTuple):
    """One unit of work; ``name`` is a slug, a number, or the name of a part."""

    kind: UnitKind
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


class Containment:
    """Runs units of work, and remembers which of them are stopped."""

    def __init__(self, retry_s: float = RETRY_S) -> None:
        self._retry_s = retry_s
        self._stopped: dict[Unit, str] = {}
        """The stopped units, each with the fingerprint of the error that was logged."""
        self._retry_at: dict[Unit, float] = {}
        self._conflicts: Counter[Unit] = Counter()
        self._seen: set[Unit] = set()

    def load(self) -> None:
        """Read the units that an earlier dispatcher has stopped."""
        for kind, name in StoppedUnit.objects.values_list("kind", "name"):
            if kind in set(UnitKind):
                self._stopped.setdefault(Unit(UnitKind(kind), name), "")

    def run(self, unit: Unit, action: Callable[[], T], default: T) -> T:
        """Return what ``action`` returns, or ``default`` if the unit is stopped.

        Raises only LostLeadership, and errors of a database that cannot be reached.
        """
        self._seen.add(unit)
        if time.monotonic() < self._retry_at.get(unit, 0.0):
            return default
        try:
            result = action()
        except LostLeadership:
            raise
        except Exception as error:  # noqa: BLE001 -- any error stops this unit only
            self._handle(unit, error)
            return default
        self._resume(unit)
        return result

    def all_work(self) -> bool:
        """True if no unit is stopped, and none has to be tried again."""
        return not (self._stopped or self._retry_at or self._conflicts)

    def forget_unseen(self) -> None:
        """Remove the rows of units that no longer exist, such as ended tournaments."""
        for unit in self._stopped.keys() - self._seen:
            self._resume(unit)
        self._seen.clear()

    def _handle(self, unit: Unit, error: Exception) -> None:
        cut_off = statement_limits.met_by(error)
        if isinstance(error, Error | psycopg.Error) and not connection.is_usable():
            raise error
        if _may_pass(error):
            self._conflicts[unit] += 1
            if self._conflicts[unit] < MAX_CONFLICTS:
                text = str(error)
                log.info("a unit is tried again", unit=str(unit), error=text, **cut_off)
                return
        self._retry_at[unit] = time.monotonic() + self._retry_s
        fault = _fingerprint(error)
        if self._stopped.get(unit) == fault:
            return
        log.error("a unit is stopped", unit=str(unit), exc_info=error, **cut_off)
        _store(unit, error)
        self._stopped[unit] = fault

    def _resume(self, unit: Unit) -> None:
        self._conflicts.pop(unit, None)
        self._retry_at.pop(unit, None)
        if unit in self._stopped:
            StoppedUnit.objects.filter(kind=unit.kind, name=unit.name).delete()
            del self._stopped[unit]
            log.info("a unit works again", unit=str(unit))


def _may_pass(error: Exception) -> bool:
    """True if the error is likely to end by itself: a lost race, a short lock."""
    if isinstance(error, LadderError):
        return error.http_status == HTTP_CONFLICT
    return isinstance(
        error, Conflict | IntegrityError | OperationalError | InterfaceError
    )


def _fingerprint(error: Exception) -> str:
    """Return a text that is the same for the same fault, to log it only once.

    The messages of internal errors may hold numbers that differ each time, so their
    place in the code counts instead.
    """
    if isinstance(error, LadderError):
        return str(error)
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} in {place.filename}:{place.lineno}"


def _store(unit: Unit, error: Exception) -> None:
    """Store a stopped unit. Another dispatcher may store the same one."""
    text = (
        str(error) if isinstance(error, LadderError) else f"internal error: {error!r}"
    )
    lines = "".join(traceback.format_exception(error))[-MAX_TRACEBACK_CHARS:]
    StoppedUnit.objects.bulk_create(
        [
            StoppedUnit(
                kind=unit.kind,
                name=unit.name,
                error=storable(text)[:MAX_ERROR_LENGTH],
                advice=ADVICE[unit.kind],
                traceback=storable(lines),
            )
        ],
        update_conflicts=True,
        unique_fields=["kind", "name"],
        update_fields=["error", "advice", "traceback"],
    )


def stopped(*units: Unit) -> list[StoppedUnit]:
    """Return those of the units that are stopped."""
    rows = StoppedUnit.objects.filter(kind__in={unit.kind for unit in units})
    return [row for row in rows if (row.kind, row.name) in units]
