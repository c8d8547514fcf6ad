"""Claims on rows: one process works on a row at a time, and a lost one writes nothing.

A process takes a row for a time, its lease, and renews the lease while it works. The
fence of a row grows each time it is taken. Every write of a claim requires the fence
that it got, so that a process whose claim was lost changes nothing, however late it
writes. All times are the database's, because the clocks of hosts may be wrong.

This module knows no states: each app says which rows are free, and which are held.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Generic, TypeVar

from django.db import models
from django.db.models import Q, QuerySet
from django.db.models.functions import Now


class Leased(models.Model):
    """A row that a process can take for a time."""

    fence = models.PositiveIntegerField(default=0)
    lease_until = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True


L = TypeVar("L", bound=Leased)


def is_over() -> Q:
    """Return the condition that a row has a lease, and that it has ended."""
    return Q(lease_until__lte=Now())


def is_free() -> Q:
    """Return the condition that a row has no lease, or one that has ended."""
    return Q(lease_until=None) | is_over()


@dataclass(frozen=True, slots=True)
class Held(Generic[L]):
    """The right to work on one row, until its fence grows or it leaves `rows`."""

    rows: QuerySet[L]
    pk: int
    fence: int

    def row(self) -> QuerySet[L]:
        """Return the row if the claim still holds, and otherwise no row."""
        return self.rows.filter(pk=self.pk, fence=self.fence)

    def update(self, **values: object) -> bool:
        """Change the row; return False if the claim is lost."""
        return bool(self.row().update(**values))

    def renew(self, lease: timedelta) -> bool:
        """Let the lease end this time from now; return False if the claim is lost.

        This also works shortly after the lease has ended, as long as no other process
        has taken the row.
        """
        return self.update(lease_until=Now() + lease)

    def give_up(self) -> bool:
        """Let another process take the row at once; return False if it is lost."""
        return self.update(lease_until=Now())


def take(
    free: QuerySet[L], pk: int, fence: int, lease: timedelta, **values: object
) -> int | None:
    """Take a row that was read with this fence, and change it. Return its new fence.

    Return None if the row is not among `free` any more. Of several processes that try
    it at once, only one changes the row.
    """
    taken = free.filter(pk=pk, fence=fence).update(
        fence=fence + 1, lease_until=Now() + lease, **values
    )
    return fence + 1 if taken else None
