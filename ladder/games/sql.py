"""The statements of each game's hot path, written once for both databases.

Through the ORM, composing them was most of what finishing a game costs, and planning
them the most of the rest (tests/bench): the server is told them once a connection.
Names of tables and columns come from the models, so that a migration is noticed.
"""

import json
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
from django.db import connection, transaction

from ladder.games.models import Attempt, Game, Seat, SeatLog, StoredAnswer, Worker

_GAME, _SEAT, _ATTEMPT, _ANSWER, _LOG, _WORKER = (
    model._meta.db_table  # noqa: SLF001 -- what it is for
    for model in (Game, Seat, Attempt, StoredAnswer, SeatLog, Worker)
)

Part = tuple[str, list[Any]]
"""A change that ends with its condition, so that another can be added; its values."""


def run(first: Part, *others: Part) -> bool:
    """Make a change and, if it met a row, the others: all or none; say if it did.

    On PostgreSQL that is one statement: each costs a trip, and two more a transaction.
    So none of them sees what another has changed.
    """
    if not others:
        return bool(_change(*first))
    if connection.vendor == "sqlite":
        with transaction.atomic():
            met = _change(*first)
            for part in others if met else ():
                _change(*part)
        return bool(met)
    sql, values = first
    guarded = [f"first AS ({sql} RETURNING 1)"]
    for k, (other, more) in enumerate(others):
        guarded.append(f"other{k} AS ({other} AND EXISTS (TABLE first))")
        values = [*values, *more]
    return bool(_ask(f"WITH {', '.join(guarded)} TABLE first", values))


@contextmanager
def _cursor() -> Iterator[Any]:
    """Open a cursor: on PostgreSQL one that binds, and so prepares, on the server.

    Django's binds on the client, and whatever it sends is parsed and planned anew.
    """
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            yield cursor
        return
    connection.close_if_health_check_failed()
    connection.ensure_connection()
    with connection.wrap_database_errors, psycopg.Cursor(connection.connection) as raw:
        yield raw


def _change(sql: str, values: Sequence[Any]) -> int:
    with _cursor() as cursor:
        cursor.execute(sql, values)
        return int(cursor.rowcount)


def _rows(sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
    with _cursor() as cursor:
        cursor.execute(sql, values)
        return list(cursor.fetchall())


def _ask(sql: str, values: Sequence[Any]) -> int | None:
    """Return the number that the only row holds, or None."""
    for (number,) in _rows(sql, values):
        return int(number)
    return None


def _now(later_s: float = 0.0) -> str:
    """Return SQL for the database's clock, some seconds from now."""
    if connection.vendor == "sqlite":
        form = "%%Y-%%m-%%d %%H:%%M:%%f"
        return f"STRFTIME('{form}', 'NOW', '{later_s:+f} seconds')"
    return f"STATEMENT_TIMESTAMP() + INTERVAL '{later_s:f} seconds'"


def _among(numbers: Collection[int]) -> Part:
    """Return SQL for "is one of these", the same for any count of them."""
    if connection.vendor == "sqlite":
        return "IN (SELECT value FROM JSON_EACH(%s))", [json.dumps([*numbers])]
    return "= ANY(%s)", [[*numbers]]


def due(limit: int, hint_s: float, without: Collection[str]) -> list[tuple[Any, ...]]:
    """List scheduled games that were not hinted at for so long, in their turn.

    Each with its queue, its needs, and whether it was tried or sent before. `without`
    names the needs that are left out.
    """
    but = f" AND needs NOT IN ({', '.join('%s' for _ in without)})" if without else ""
    return _rows(
        "SELECT id, queue, needs, sent_at IS NOT NULL OR failures > 0"  # noqa: S608
        f" FROM {_GAME} WHERE status = 'scheduled'"
        f" AND (sent_at IS NULL OR sent_at < {_now(-hint_s)}){but}"
        " ORDER BY priority DESC, id LIMIT %s",
        [*without, limit],
    )


def in_flight(hint_s: float) -> list[tuple[Any, ...]]:
    """Count the scheduled games that were hinted at lately, by the queue."""
    return _rows(
        f"SELECT sent_to, COUNT(*) FROM {_GAME} WHERE status = 'scheduled'"  # noqa: S608
        f" AND sent_at >= {_now(-hint_s)} GROUP BY sent_to",
        [],
    )


def mark_sent(games: Collection[int], queue: str) -> Part:
    """Note that scheduled games are hinted at now, and by which queue."""
    among, numbers = _among(games)
    sql = (
        f"UPDATE {_GAME} SET sent_at = {_now()}, sent_to = %s"  # noqa: S608
        f" WHERE status = 'scheduled' AND id {among}"
    )
    return sql, [queue, *numbers]


def take(game: int, worker: int, lease_s: float) -> int | None:
    """Give a scheduled game to a worker that may take it; return the fence, or None."""
    return _ask(
        f"UPDATE {_GAME} SET status = 'running', owner_id = %s,"  # noqa: S608
        f" lease_until = {_now(lease_s)}, fence = fence + 1,"
        f" started_at = COALESCE(started_at, {_now()})"
        " WHERE id = %s AND status = 'scheduled' AND EXISTS (SELECT 1"
        f" FROM {_WORKER} w WHERE w.id = %s AND NOT w.drained AND w.gone_at IS NULL)"
        " RETURNING fence",
        [worker, game, worker],
    )


def open_attempt(game: int, fence: int, worker: int) -> int:
    """Add an attempt and return its id."""
    attempt = _ask(
        f"INSERT INTO {_ATTEMPT} (game_id, fence, worker_id, started_at, outcome,"  # noqa: S608
        f" reason) VALUES (%s, %s, %s, {_now()}, 'open', '') RETURNING id",
        [game, fence, worker],
    )
    assert attempt is not None  # it was just added
    return attempt


def end(game: int, fence: int, reason: str, engine: str, replay: bytes) -> Part:
    """Write a game's result if it still runs under this fence."""
    sql = (
        f"UPDATE {_GAME} SET status = 'finished', owner_id = NULL,"  # noqa: S608
        f" lease_until = NULL, finished_at = {_now()}, reason = %s, engine = %s,"
        " replay = %s WHERE id = %s AND fence = %s AND status = 'running'"
    )
    return sql, [reason, engine, replay, game, fence]


def place(game: int, columns: dict[str, list[Any]]) -> Part:
    """Write the seats' columns, each a list in the order of the seats."""
    seats = range(len(next(iter(columns.values()))))
    whens = " ".join(f"WHEN {number:d} THEN %s" for number in seats)
    sets = ", ".join(f"{name} = CASE number {whens} END" for name in columns)
    values = [value for column in columns.values() for value in column]
    return f"UPDATE {_SEAT} SET {sets} WHERE game_id = %s", [*values, game]  # noqa: S608


def close_attempt(game: int, fence: int, outcome: str, reason: str) -> Part:
    """End an open attempt."""
    sql = (
        f"UPDATE {_ATTEMPT} SET outcome = %s, ended_at = {_now()}, reason = %s"  # noqa: S608
        " WHERE game_id = %s AND fence = %s AND outcome = 'open'"
    )
    return sql, [outcome, reason, game, fence]


def drop_answers(attempt: int) -> Part:
    """Remove the answers of an attempt."""
    return f"DELETE FROM {_ANSWER} WHERE attempt_id = %s", [attempt]  # noqa: S608


def keep_logs(rows: Sequence[tuple[int, int, str, str, str]]) -> list[Part]:
    """Add logs, if any: attempt, seat, stderr, and notes and verdict as JSON."""
    if not rows:
        return []
    as_json = "%s" if connection.vendor == "sqlite" else "%s::jsonb"
    marks = ", ".join(f"(%s, %s, %s, {as_json}, {as_json})" for _ in rows)
    sql = (
        f"INSERT INTO {_LOG} (attempt_id, number, stderr, notes, verdict)"  # noqa: S608
        f" SELECT * FROM (VALUES {marks}) AS given WHERE TRUE"
    )
    return [(sql, [value for row in rows for value in row])]
