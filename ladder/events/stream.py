"""Read events in one order that is the same for every reader.

A reader that asks for ids above the last one that it has seen loses events: of two
concurrent transactions, the one with the higher id may commit first. So events get
their numbers after they are committed, by one process at a time. Numbers are dense, and
no event gets a number below one that a reader may have seen.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from operator import or_
from typing import Any

from django.db import connection, transaction
from django.db.models import Max, Min, Q, QuerySet, TextField
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast

from ladder.common.fixed_query import FixedQuery, any_of, row_of
from ladder.events.models import Event

# The same number in every process of one database. The value has no meaning.
ADVISORY_LOCK_ID = 0x65_76_65_6E_74_73
NUMBERED_AT_ONCE = 1000
_TABLE = Event._meta.db_table  # noqa: SLF001 -- the documented way to a table's name
_HAS_NEW = FixedQuery(lambda: row_of(any_of(Event.objects.filter(number=None))))


@dataclass(frozen=True, slots=True)
class EventRow:
    """One event as readers get it. `owners` are ids of users."""

    number: int
    kind: str
    created_at: datetime
    data: dict[str, Any]
    public: bool
    owners: frozenset[int]


def number_new() -> int:
    """Give the committed events without a number the next numbers; return how many.

    Call it before `read`, outside of a transaction, as often as you like: it is one
    cheap query if there is nothing new. It returns 0 at once if another process does
    the same at this moment.
    """
    numbered = 0
    while _HAS_NEW.rows()[0][0]:
        step = _number_some()
        numbered += step
        if step < NUMBERED_AT_ONCE:
            break
    return numbered


def _number_some() -> int:
    """Number the oldest new events, under a lock until their numbers are committed.

    On SQLite the transaction holds the write lock. A statement after the lock sees
    everything that an earlier holder has committed.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [ADVISORY_LOCK_ID])
            if not cursor.fetchone()[0]:
                return 0
        cursor.execute(
            f"UPDATE {_TABLE} SET number = %s + fresh.place"  # noqa: S608
            " FROM (SELECT id, ROW_NUMBER() OVER (ORDER BY id) AS place"
            f" FROM {_TABLE} WHERE number IS NULL ORDER BY id LIMIT %s) AS fresh"
            f" WHERE {_TABLE}.id = fresh.id",
            [newest(), NUMBERED_AT_ONCE],
        )
        return int(cursor.rowcount)


def read(after: int, limit: int) -> list[EventRow]:
    """Return at most `limit` events with a number above `after`, in their order.

    The caller shows a person only those that `visibility.may_see` permits.
    """
    return _rows(Event.objects.filter(number__gt=after), limit)


def read_matching(
    after: int, last: int, limit: int, filters: Mapping[str, Sequence[str]]
) -> list[EventRow]:
    """Return at most `limit` events that the filters let through, in their order.

    Their numbers are above `after` and at most `last`. `filters` has the wanted values
    by keys of the data; the key "type" is the kind. The database leaves out most of the
    others, because to decode an event costs many times as much as to skip it. The
    caller checks each row once more.
    """
    rows = Event.objects.filter(number__gt=after, number__lte=last)
    for key, values in filters.items():
        if key == "type":
            rows = rows.filter(kind__in=values)
            continue
        # The JSON of the value contains each of its names and numbers.
        text = Cast(KeyTextTransform(key, "data"), TextField())
        rows = rows.alias(**{f"_{key}": text}).filter(
            reduce(or_, (Q(**{f"_{key}__contains": value}) for value in values))
        )
    return _rows(rows, limit)


def _rows(events: QuerySet[Event], limit: int) -> list[EventRow]:
    rows = events.order_by("number")
    columns = ("number", "kind", "created_at", "data", "public", "owners")
    return [
        EventRow(number or 0, kind, created_at, data, public, frozenset(owners))
        for number, kind, created_at, data, public, owners in rows.values_list(
            *columns
        )[:limit]
    ]


def as_row(event: Event) -> EventRow:
    """Return a numbered event as readers get it."""
    return EventRow(
        event.number or 0,
        event.kind,
        event.created_at,
        event.data,
        event.public,
        frozenset(event.owners),
    )


def newest() -> int:
    """Return the number of the newest numbered event; 0 if there is none.

    Retention keeps this event, so that a number is never given twice.
    """
    return Event.objects.aggregate(number=Max("number"))["number"] or 0


def oldest() -> int:
    """Return the number of the oldest stored event; 0 if there is none.

    A reader that asks for less has missed events.
    """
    return Event.objects.aggregate(number=Min("number"))["number"] or 0
