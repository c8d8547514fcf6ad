"""Add leaves to the public log, in the transaction of the change that they record.

A leaf of a change that is rolled back is never logged, and none of a committed change
is lost. `sequencer` gives the leaves their numbers later.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

from django.db import connection
from django.db.transaction import TransactionManagementError

from ladder.public_log import sql
from ladder.public_log.models import PendingLeaf, SealedLeaf
from torres.tlog.leaves import LeafKind, canonical


class NewLeaf(NamedTuple):
    """A leaf that is to be logged. `seal` is the id of a match that is hidden."""

    kind: LeafKind
    subject: int | None
    data: Mapping[str, Any]
    seal: int | None = None


def record(
    kind: LeafKind, subject: int | None, data: Mapping[str, Any], *, seal: int | None
) -> None:
    """Add one leaf to the caller's transaction, as `record_all` does."""
    record_all([NewLeaf(kind, subject, data, seal)])


def record_all(leaves: Iterable[NewLeaf]) -> None:
    """Add leaves to the caller's transaction, with few statements for all of them.

    Raises TransactionManagementError if there is no transaction.
    """
    if not connection.in_atomic_block:
        raise TransactionManagementError(
            "A leaf must be written in the transaction of its change. Call record"
            " inside transaction.atomic()."
        )
    rows = [
        sql.PendingRow(leaf.kind.value, leaf.subject, leaf.seal, canonical(leaf.data))
        for leaf in leaves
    ]
    if rows:
        sql.insert_pending(rows)


def unseal(matches: Collection[int]) -> None:
    """Make public what the log has sealed about these matches.

    1. Leaves that have no number yet are logged without a seal.
    2. For each sealed leaf, a new leaf contains its salt and its text.
    """
    PendingLeaf.objects.filter(seal__in=matches).update(seal=None)
    sealed = list(SealedLeaf.objects.filter(match__in=matches).order_by("number"))
    record_all(
        NewLeaf(
            LeafKind.UNSEALED,
            leaf.number,
            {"leaf": leaf.number, "salt": bytes(leaf.salt).hex(), "text": leaf.text},
        )
        for leaf in sealed
    )
    SealedLeaf.objects.filter(pk__in=[leaf.pk for leaf in sealed]).delete()
