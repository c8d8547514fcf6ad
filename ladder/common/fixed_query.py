"""Queries that run many times with the same text.

Django composes the text of a query each time, and PostgreSQL plans it each time. For
the questions that the dispatcher asks every second, both cost many times as much as the
answer. A `FixedQuery` is composed once in a process, and each connection prepares it.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any, NamedTuple

import psycopg
from django.db import DEFAULT_DB_ALIAS, connection
from django.db.models import QuerySet
from psycopg.pq import TransactionStatus

from ladder.common import tracing


@contextmanager
def preparing_cursor() -> Iterator[Any]:
    """Open a cursor whose statements are prepared after a few executions.

    Django's cursors bind values on the client, so PostgreSQL would parse and plan
    every statement anew. Behind a pooler, DB_PREPARE decides.
    """
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            yield cursor
        return
    connection.ensure_connection()
    if connection.execute_wrappers and begins_transaction():
        # They see no raw cursor, but have to see how a transaction begins.
        for wrapper in connection.execute_wrappers:
            wrapper(_execute_nothing, "", None, False, {"connection": connection})
    cursor_class = tracing.cursor_class()
    with connection.wrap_database_errors, cursor_class(connection.connection) as raw:
        yield raw


def _execute_nothing(*_: object) -> None:
    """Stand in for a statement that a wrapper would run."""


def begins_transaction() -> bool:
    """True if the next statement is the first of a transaction on PostgreSQL."""
    if not connection.in_atomic_block or connection.connection is None:
        return False
    status = connection.connection.info.transaction_status
    return bool(status == TransactionStatus.IDLE)


def fetch_all(sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Run a statement whose text is always the same; return its rows.

    Values come as the database's driver returns them.
    """
    with preparing_cursor() as cursor:
        cursor.execute(sql, values)
        return list(cursor.fetchall())


def insert_rows(
    table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]
) -> None:
    """Add rows; columns that are not named get the defaults of the database.

    PostgreSQL gets several with COPY, for which it neither parses nor plans anything. A
    single one is an INSERT, because the roles of workers may not use COPY.
    """
    names = ", ".join(f'"{column}"' for column in columns)
    with preparing_cursor() as cursor:
        if connection.vendor == "sqlite" or len(rows) == 1:
            places = ", ".join("%s" for _ in columns)
            sql = f"INSERT INTO {table} ({names}) VALUES ({places})"  # noqa: S608
            cursor.executemany(sql, rows)
            return
        with cursor.copy(f"COPY {table} ({names}) FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)


class ComposedQuery(NamedTuple):
    """The text of a query, and the values of its placeholders."""

    text: str
    values: Sequence[Any]


class FixedQuery:
    """A query whose text is composed once.

    `compose` returns the text and its values, which must always be the same: no moment
    and no id may be among them. Use functions such as `Now` instead.
    """

    def __init__(self, compose: Callable[[], ComposedQuery]) -> None:
        self._compose = compose

    def rows(self) -> list[tuple[Any, ...]]:
        """Run the query. Values come as the database's driver returns them."""
        with preparing_cursor() as cursor:
            cursor.execute(*self._statement)
            return list(cursor.fetchall())

    @cached_property
    def _statement(self) -> tuple[Any, ...]:
        """Return what `execute` needs. The schema is known after the first migration.

        For PostgreSQL the values become a part of the text. With placeholders it could
        not use partial indexes in a prepared plan.
        """
        composed = self._compose()
        if connection.vendor == "sqlite":
            return tuple(composed)
        connection.ensure_connection()
        cursor = psycopg.ClientCursor(connection.connection)
        return (cursor.mogrify(composed.text, composed.values),)


def composed(rows: QuerySet[Any, Any]) -> ComposedQuery:
    """Return the text of a queryset."""
    return ComposedQuery(*rows.query.get_compiler(DEFAULT_DB_ALIAS).as_sql())


def any_of(*questions: QuerySet[Any, Any]) -> ComposedQuery:
    """Return an expression that is true if one of the querysets has a row."""
    texts = []
    values: list[Any] = []
    for question in questions:
        compiler = question.query.exists().get_compiler(DEFAULT_DB_ALIAS)
        text, its_values = compiler.as_sql()
        texts.append(f"EXISTS ({text})")
        values += its_values
    return ComposedQuery(f"({' OR '.join(texts)})", values)


def row_of(*expressions: ComposedQuery) -> ComposedQuery:
    """Return a query with one row, which has the value of each expression."""
    values = [value for expression in expressions for value in expression.values]
    columns = ", ".join(f"({expression.text})" for expression in expressions)
    return ComposedQuery(f"SELECT {columns}", values)
