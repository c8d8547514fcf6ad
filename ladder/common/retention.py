"""Retention rules: what may be deleted, from when on, and how to delete a little of it.

Each package defines the rules of its own rows and files. The dispatcher applies all of
them in small slices (`dispatch.retention`), and `manage.py tidy` does so at once.
Results never depend on what a rule deletes: not a rating, not a replay, not a proof.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.models import Model, QuerySet
from django.db.models.functions import Now

MAX_EXACT_ROWS = 50_000


@dataclass(frozen=True, slots=True)
class RetentionRule:
    """One kind of rows or files that are deleted after some time.

    `setting` is the environment variable that says when. `stored` counts what there is
    now. `due(limit)` counts what may be deleted, up to `limit`, and `delete(limit)`
    deletes at most that much and returns how much it was. All three are cheap for
    small limits, and `delete` holds locks only for a short time.
    """

    name: str
    setting: str
    stored: Callable[[], int]
    due: Callable[[int], int]
    delete: Callable[[int], int]


def rule_for_rows(
    name: str,
    setting: str,
    rows: Callable[[], QuerySet[Any]],
    due: Callable[[], QuerySet[Any]],
    *,
    in_order: bool = False,
) -> RetentionRule:
    """Return a rule that deletes rows to which no other row points.

    `due` returns the rows that may be deleted. If rows become due in the order of their
    ids (`in_order`), only the oldest rows are examined: a query for all due rows of a
    large table would read the whole table if there are none.
    """

    def candidates(limit: int) -> list[Any]:
        found = due()
        if in_order:
            oldest = rows().order_by("pk").values_list("pk", flat=True)[:limit]
            found = found.filter(pk__in=list(oldest))
        return list(found.order_by("pk").values_list("pk", flat=True)[:limit])

    def delete(limit: int) -> int:
        return delete_rows(rows().model, candidates(limit))

    return RetentionRule(
        name,
        setting,
        lambda: stored_rows(rows()),
        lambda limit: len(candidates(limit)),
        delete,
    )


def rule_for_old_rows(
    name: str, setting: str, model: type[Model], moment: str, *, in_order: bool = False
) -> RetentionRule:
    """Return a rule for rows whose `moment` is longer ago than the setting, in days."""
    manager = model._default_manager  # noqa: SLF001 -- documented by Django

    def due() -> QuerySet[Any]:
        keep = timedelta(days=getattr(settings, setting))
        return manager.filter(**{f"{moment}__lt": Now() - keep})

    return rule_for_rows(name, setting, manager.all, due, in_order=in_order)


def stored_rows(rows: QuerySet[Any]) -> int:
    """Return the number of rows, for a large table of PostgreSQL as it estimates it.

    To count millions of rows takes seconds.
    """
    if connection.vendor == "postgresql" and not rows.query.where:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT reltuples FROM pg_class WHERE oid = %s::regclass",
                [rows.model._meta.db_table],  # noqa: SLF001 -- documented by Django
            )
            estimate = int(cursor.fetchone()[0])
        if estimate > MAX_EXACT_ROWS:
            return estimate
    return rows.count()


def delete_rows(model: type[Model], keys: Iterable[Any]) -> int:
    """Delete the rows with these primary keys; return how many there were."""
    found = model._default_manager.filter(pk__in=list(keys))  # noqa: SLF001
    return found.delete()[0]
