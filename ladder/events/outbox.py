"""Write events, in the transaction of the change that they tell about.

If a change is rolled back, its event disappears; if it is committed, its event is kept.
The content of an event is decided here and now: a public event holds nothing that the
REST API would hide at this moment.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from django.db import connection
from django.db.transaction import TransactionManagementError

from ladder.events.kinds import EventKind
from ladder.events.models import Event

API = "/api/v1/"
"""Every `url` in the data of an event begins with this."""
ROWS_PER_STATEMENT = 500


def publish(
    kind: EventKind,
    data: Mapping[str, Any],
    *,
    public: bool = True,
    owners: Iterable[int | None] = (),
) -> None:
    """Add an event to the caller's transaction.

    `data` is small, and names things as the REST API does. Only the users with the ids
    `owners` may see an event that is not public. Raises TransactionManagementError if
    there is no transaction.
    """
    publish_all([event(kind, data, public=public, owners=owners)])


def publish_all(events: Iterable[Event]) -> None:
    """Add events to the caller's transaction, with few statements for all of them.

    Raises TransactionManagementError if there is no transaction.
    """
    if not connection.in_atomic_block:
        raise TransactionManagementError(
            "An event must be written in the transaction of its change. Call publish"
            " inside transaction.atomic()."
        )
    Event.objects.bulk_create(events, batch_size=ROWS_PER_STATEMENT)


def event(
    kind: EventKind,
    data: Mapping[str, Any],
    *,
    public: bool = True,
    owners: Iterable[int | None] = (),
) -> Event:
    """Return the row of an event, which is not stored yet.

    None among the owners stands for the owner of a bot that has none.
    """
    known = sorted({owner for owner in owners if owner is not None})
    return Event(kind=kind.value, data=dict(data), public=public, owners=known)
