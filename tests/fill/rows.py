"""Write many rows of several tables: COPY on PostgreSQL, bulk inserts on SQLite."""

import json
from collections.abc import Sequence
from typing import Any

from django.core.management.color import no_style
from django.db import connection, models

from ladder.common import planner_statistics

BATCH_ROWS = 2000


class RowWriter:
    """Collects rows of one table and writes them all at once.

    Rows are written as they are: no `save` runs and no value is checked, but the
    constraints of the database hold. A column that no row names gets the default of
    its field.
    """

    def __init__(self, model: type[models.Model], *columns: str) -> None:
        self._model = model
        self._columns = columns
        self._rows: list[tuple[Any, ...]] = []
        fields = {field.attname: field for field in model._meta.concrete_fields}
        self._json = [isinstance(fields[name], models.JSONField) for name in columns]
        self._defaults = {
            name: field.get_default()
            for name, field in fields.items()
            if name not in columns and _needs_default(field)
        }

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, *values: object) -> None:
        """Add a row; the values are in the order of the columns."""
        self._rows.append(values)

    def flush(self) -> None:
        """Write the collected rows."""
        if connection.vendor == "postgresql":
            self._copy()
        else:
            self._insert()
        self._rows.clear()

    def _copy(self) -> None:
        defaults = self._defaults
        json_defaults = {
            field.attname
            for field in self._model._meta.concrete_fields
            if isinstance(field, models.JSONField)
        }
        tail = tuple(
            json.dumps(value) if name in json_defaults else value
            for name, value in defaults.items()
        )
        names = ", ".join(f'"{_column(self._model, n)}"' for n in self._all_names())
        table = self._model._meta.db_table
        with (
            connection.cursor() as cursor,
            cursor.copy(f'COPY "{table}" ({names}) FROM STDIN') as copy,
        ):
            for row in self._rows:
                copy.write_row(self._as_json_text(row) + tail)

    def _as_json_text(self, row: tuple[Any, ...]) -> tuple[Any, ...]:
        if not any(self._json):
            return row
        return tuple(
            json.dumps(value) if is_json and value is not None else value
            for value, is_json in zip(row, self._json, strict=True)
        )

    def _insert(self) -> None:
        self._model._default_manager.bulk_create(
            (
                self._model(**dict(zip(self._columns, row, strict=True)))
                for row in self._rows
            ),
            batch_size=BATCH_ROWS,
        )

    def _all_names(self) -> Sequence[str]:
        return (*self._columns, *self._defaults)


def _needs_default(field: models.Field[Any, Any]) -> bool:
    """True if an insert has to name the column."""
    return not (
        field.null or field.primary_key or field.generated or field.has_db_default()
    )


def _column(model: type[models.Model], attname: str) -> str:
    fields = model._meta.concrete_fields
    return next(str(field.column) for field in fields if field.attname == attname)


def reset_sequences(tables: Sequence[type[models.Model]]) -> None:
    """Let the next ids follow those that were written explicitly."""
    statements = connection.ops.sequence_reset_sql(no_style(), list(tables))
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def clean_up() -> None:
    """Do what happens by itself if a table grows slowly.

    The planner learns how large the tables are, and PostgreSQL which of their pages
    everybody may see, so that it can answer from indexes alone.
    """
    planner_statistics.refresh()
    if connection.vendor == "postgresql":
        statement = "ANALYZE" if connection.in_atomic_block else "VACUUM ANALYZE"
        with connection.cursor() as cursor:
            cursor.execute(statement)


def first_free_id(model: type[models.Model]) -> int:
    """Return an id from which on all are free."""
    highest = model._default_manager.aggregate(highest=models.Max("pk"))["highest"]
    return (highest or 0) + 1
