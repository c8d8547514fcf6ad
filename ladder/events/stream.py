"""Number the facts, and read the events among them in one order for every reader.

A reader that asks for ids above the last one that it has seen loses facts: of two
concurrent transactions, the one with the higher id may commit first. So facts get
their numbers after they are committed, by one process at a time. Numbers are dense, and
no fact gets a number below one that a reader may have seen.

The functions that read leave out facts without an event. So readers see gaps.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import reduce
from operator import or_

from django.db import connection, transaction
from django.db.models import Max, Min, Q, QuerySet, TextField
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast

from ladder.common.fixed_query import FixedQuery, any_of, preparing_cursor, row_of
from ladder.events.kinds import NEWS_KINDS
from ladder.events.models import Fact

# The same number in every process of one database. The value has no meaning.
ADVISORY_LOCK_ID = 0x65_76_65_6E_74_73
_TABLE = Fact._meta.db_table  # noqa: SLF001 -- the documented way to a table's name
_HAS_NEW = FixedQuery(lambda: row_of(any_of(Fact.objects.filter(number=None))))


@dataclass(frozen=True, slots=True)
class EventRow:
    """One event as readers get it. `owners` are ids of users."""

    number: int
    kind: str
    created_at: datetime
    data: dict[str, object]
    public: bool
    owners: frozenset[int]

    def is_shown_to(self, user_id: int | None, *, is_operator: bool) -> bool:
        """True if a person may see the event; `user_id` is None for a visitor.

        Operators see all events, because they see the same things in the admin.
        """
        is_owner = user_id is not None and user_id in self.owners
        return self.public or is_operator or is_owner

    def has_one_of(self, values: Collection[str], key: str) -> bool:
        """True if one of these is at a key of the data; the key "type" is the kind."""
        value = self.kind if key == "type" else self.data.get(key)
        if isinstance(value, list):
            return any(each in values for each in value)
        return str(value) in values

    def document(self) -> dict[str, object]:
        """Return the JSON document that docs/events.md describes."""
        moment = self.created_at.astimezone(UTC).isoformat().replace("+00:00", "Z")
        return {
            "number": self.number,
            "type": self.kind,
            "timestamp": moment,
            "data": self.data,
        }


def number_new() -> int:
    """Give the committed facts without a number the next numbers; return how many.

    Call it outside of a transaction, as often as you like: it is one cheap query if
    there is nothing new. It returns 0 at once if another process does the same at this
    moment.

    A lock is held until the numbers are committed; on SQLite it is the write lock. A
    statement after the lock sees everything that an earlier holder has committed.
    """
    return number_waiting() if _HAS_NEW.rows()[0][0] else 0


def number_waiting() -> int:
    """Do what `number_new` does, for a caller that knows of new facts."""
    with transaction.atomic(), preparing_cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [ADVISORY_LOCK_ID])
            if not cursor.fetchone()[0]:
                return 0
        cursor.execute(
            f"UPDATE {_TABLE} SET number = last.number + fresh.place"  # noqa: S608
            f" FROM (SELECT COALESCE(MAX(number), 0) AS number FROM {_TABLE}) AS last,"
            " (SELECT id, ROW_NUMBER() OVER (ORDER BY id) AS place"
            f" FROM {_TABLE} WHERE number IS NULL) AS fresh"
            f" WHERE {_TABLE}.id = fresh.id"
        )
        return int(cursor.rowcount)


def read(after: int, limit: int) -> list[EventRow]:
    """Number the new events, and return the first `limit` after a number, in order.

    The caller shows a person only those that `EventRow.is_shown_to` permits.
    """
    number_new()
    return _rows(_events().filter(number__gt=after), limit)


def read_matching(
    after: int, last: int, limit: int, filters: Mapping[str, Sequence[str]]
) -> list[EventRow]:
    """Return at most `limit` events that the filters let through, in their order.

    Their numbers are above `after` and at most `last`. `filters` has the wanted values
    by keys of the data; the key "type" is the kind. The database leaves out most of the
    others, because to decode an event costs many times as much as to skip it. The
    caller checks each row once more.
    """
    rows = _events().filter(number__gt=after, number__lte=last)
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


def news(after: int, limit: int) -> list[EventRow]:
    """Return the last `limit` public events of NEWS_KINDS after a number, in order."""
    rows = Fact.objects.filter(number__gt=after, public=True, kind__in=NEWS_KINDS)
    newest = rows.order_by("-number").defer("leaf_data")[:limit]
    return [as_row(row) for row in reversed(newest)]


def _events() -> QuerySet[Fact]:
    return Fact.objects.exclude(kind="")


def _rows(events: QuerySet[Fact], limit: int) -> list[EventRow]:
    rows = events.order_by("number").defer("leaf_data")[:limit]
    return [as_row(event) for event in rows]


def as_row(event: Fact) -> EventRow:
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
    """Number the new events, and return the last number; 0 if there is no event."""
    number_new()
    return _events().aggregate(number=Max("number"))["number"] or 0


def oldest() -> int:
    """Return the number of the oldest stored fact; 0 if there is none.

    A reader that asks for less may have missed events.
    """
    return Fact.objects.aggregate(number=Min("number"))["number"] or 0
