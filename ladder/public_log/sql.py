"""Hand-written SQL for the log's writes in each game, for PostgreSQL and SQLite.

Through the ORM, most of this time went into instances of models and into composing the
same statements again (tests/bench). Names of tables come from the models. This module
does not know when or why a statement runs.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from ladder.common.fixed_query import (
    FixedQuery,
    composed,
    fetch_all,
    insert_rows,
    preparing_cursor,
)
from ladder.public_log.models import (
    LogBundle,
    LogHead,
    LogLeaf,
    LogTile,
    PendingLeaf,
    SealedLeaf,
)
from torres.tlog.leaves import LeafKind

_HEAD, _LEAF, _PENDING, _SEALED, _BUNDLE, _TILE = (
    model._meta.db_table  # noqa: SLF001 -- the documented way to a table's name
    for model in (LogHead, LogLeaf, PendingLeaf, SealedLeaf, LogBundle, LogTile)
)
_LOCKED_HEAD = FixedQuery(lambda: composed(LogHead.objects.select_for_update()))


class PendingRow(NamedTuple):
    """A leaf that is to be logged; `data` is JSON. See `PendingLeaf`."""

    kind: str
    subject: int | None
    seal: int | None
    data: str


class TakenRow(NamedTuple):
    """A leaf that waited for a number."""

    id: int
    kind: str
    subject: int | None
    seal: int | None
    data: str
    created_at: datetime


class LeafRow(NamedTuple):
    """A row of LogLeaf."""

    number: int
    kind: str
    subject: int | None
    hash: bytes
    text: str


class SealedRow(NamedTuple):
    """A row of SealedLeaf."""

    number: int
    match: int
    salt: bytes
    text: str


def insert_pending(rows: Sequence[PendingRow]) -> None:
    """Add leaves that wait for their numbers."""
    insert_rows(_PENDING, PendingRow._fields, rows)


def lock_head() -> LogHead | None:
    """Return the head of the log and lock it; None if there is no log yet.

    It needs a transaction. SQLite has locked the whole database then.
    """
    rows = _LOCKED_HEAD.rows()
    return LogHead(*rows[0]) if rows else None


def update_head(head: LogHead) -> None:
    """Store the tree and the checkpoint of the locked head, which is signed now."""
    with preparing_cursor() as cursor:
        cursor.execute(
            f"UPDATE {_HEAD} SET origin = %s, size = %s, root = %s, frontier = %s,"  # noqa: S608
            " checkpoint = %s, key = %s, signed_at = CURRENT_TIMESTAMP,"
            " restored = FALSE WHERE id = %s",
            [
                head.origin,
                head.size,
                head.root,
                head.frontier,
                head.checkpoint,
                head.key,
                head.pk,
            ],
        )


def take_pending(limit: int) -> list[TakenRow]:
    """Delete the first leaves that wait, and return them in their order.

    Commitments come first, then older leaves. A leaf that another transaction changes
    now is returned as that transaction leaves it.
    """
    commitment = LeafKind.BATCH_COMMITTED.value
    rows = fetch_all(
        f"DELETE FROM {_PENDING} WHERE id IN (SELECT id FROM {_PENDING}"  # noqa: S608
        f" ORDER BY kind <> '{commitment}', id LIMIT %s)"
        " RETURNING id, kind, subject, seal, data, created_at",
        [limit],
    )
    taken = [
        TakenRow(id_, kind, subject, seal, data, _moment(created_at))
        for id_, kind, subject, seal, data, created_at in rows
    ]
    return sorted(taken, key=lambda row: (row.kind != commitment, row.id))


def insert_leaves(rows: Sequence[LeafRow]) -> None:
    """Add leaves that got their numbers."""
    insert_rows(_LEAF, LeafRow._fields, rows)


def insert_sealed(rows: Sequence[SealedRow]) -> None:
    """Add the texts of sealed leaves."""
    insert_rows(_SEALED, SealedRow._fields, rows)


def insert_bundle(index: int, data: bytes) -> None:
    """Add a bundle as `tree.packed` returns it."""
    insert_rows(_BUNDLE, ("index", "data"), [(index, data)])


def insert_tile(level: int, index: int, hashes: bytes, root: bytes) -> None:
    """Add a complete tile."""
    columns = ("level", "index", "hashes", "root")
    insert_rows(_TILE, columns, [(level, index, hashes, root)])


def take_leaves(start: int) -> list[LeafRow]:
    """Delete the leaves with this number and above, and return them in their order."""
    rows = fetch_all(
        f"DELETE FROM {_LEAF} WHERE number >= %s"  # noqa: S608
        " RETURNING number, kind, subject, hash, text",
        [start],
    )
    return sorted(LeafRow(*row) for row in rows)


def _moment(value: datetime | str) -> datetime:
    """Return a moment as the drivers return it. In SQLite it is a text in UTC."""
    if isinstance(value, str):
        return datetime.fromisoformat(value).replace(tzinfo=UTC)
    return value
