"""Write facts, in the transaction of the change that they tell about.

If a change is rolled back, its fact disappears; if it is committed, its fact is kept.
The content of a fact is decided here and now: a public event holds nothing that the
REST API would hide at this moment.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from django.db import connection
from django.db.transaction import TransactionManagementError

from ladder.common.fixed_query import insert_rows
from ladder.events.kinds import EventKind
from ladder.events.models import Fact
from torres.tlog.leaves import LeafKind, canonical

API = "/api/v1/"
"""Every `url` in the data of an event begins with this."""


class NewEvent(NamedTuple):
    """An event that is to be told.

    `data` is small, and names things as the REST API does.
    Only the users with the ids `owners` may see an event that is not public. None
    among them stands for the owner of a bot that has none.
    """

    kind: EventKind
    data: Mapping[str, Any]
    public: bool = True
    owners: Iterable[int | None] = ()


class NewLeaf(NamedTuple):
    """A leaf that is to be logged. `seal` is the id of a match that is hidden."""

    kind: LeafKind
    subject: int | None
    data: Mapping[str, Any]
    seal: int | None = None


class NewFact(NamedTuple):
    """The columns of a `Fact`; `data` and `owners` are JSON texts."""

    kind: str = ""
    data: str = "{}"
    public: bool = False
    owners: str = "[]"
    leaf_kind: str = ""
    leaf_subject: int | None = None
    leaf_seal: int | None = None
    leaf_data: str = ""


def record(event: NewEvent | None = None, leaf: NewLeaf | None = None) -> None:
    """Add one fact to the caller's transaction, as `record_all` does."""
    record_all([fact(event, leaf)])


def record_all(facts: Iterable[NewFact]) -> None:
    """Add facts to the caller's transaction, with one statement for all of them.

    Raises TransactionManagementError if there is no transaction.
    """
    if not connection.in_atomic_block:
        raise TransactionManagementError(
            "A fact must be written in the transaction of its change. Call record"
            " inside transaction.atomic()."
        )
    # Through the ORM, this and the leaves of the log cost a game 0.9 ms more.
    table = Fact._meta.db_table  # noqa: SLF001 -- the documented way to a table's name
    rows = list(facts)
    if rows:
        insert_rows(table, NewFact._fields, rows)


def fact(event: NewEvent | None = None, leaf: NewLeaf | None = None) -> NewFact:
    """Return the row of a fact, which is not stored yet."""
    row = NewFact()
    if event is not None:
        owners = sorted({owner for owner in event.owners if owner is not None})
        row = row._replace(
            kind=event.kind.value,
            data=json.dumps(event.data),
            public=event.public,
            owners=json.dumps(owners),
        )
    if leaf is not None:
        row = row._replace(
            leaf_kind=leaf.kind.value,
            leaf_subject=leaf.subject,
            leaf_seal=leaf.seal,
            leaf_data=canonical(leaf.data),
        )
    return row
