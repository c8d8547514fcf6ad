"""The statements of each game's hot path, written once for both databases.

Through the ORM, composing them was most of what finishing a game costs (tests/bench).
Names of tables and columns come from the models, so that a migration is noticed.
"""

from collections.abc import Sequence
from typing import Any

from django.db import connection

from ladder.games.models import Answer, Attempt, Game, Seat, SeatLog, Worker

_GAME, _SEAT, _ATTEMPT, _ANSWER, _LOG, _WORKER = (
    model._meta.db_table  # noqa: SLF001 -- what it is for
    for model in (Game, Seat, Attempt, Answer, SeatLog, Worker)
)


def _now(later_s: float = 0.0) -> str:
    """Return SQL for the database's clock, some seconds from now."""
    if connection.vendor == "sqlite":
        form = "%%Y-%%m-%%d %%H:%%M:%%f"
        return f"STRFTIME('{form}', 'NOW', '{later_s:+f} seconds')"
    return f"STATEMENT_TIMESTAMP() + INTERVAL '{later_s:f} seconds'"


def _run(sql: str, values: Sequence[Any]) -> int:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return int(cursor.rowcount)


def _ask(sql: str, values: Sequence[Any]) -> int | None:
    """Return the number that the only row holds, or None."""
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        row = cursor.fetchone()
        return int(row[0]) if row else None


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


def end(game: int, fence: int, reason: str, engine: str, replay: bytes) -> bool:
    """Write a game's result if it still runs under this fence."""
    return bool(
        _run(
            f"UPDATE {_GAME} SET status = 'finished', owner_id = NULL,"  # noqa: S608
            f" lease_until = NULL, finished_at = {_now()}, reason = %s, engine = %s,"
            " replay = %s WHERE id = %s AND fence = %s AND status = 'running'",
            [reason, engine, replay, game, fence],
        )
    )


def place(game: int, columns: dict[str, list[Any]]) -> None:
    """Write the seats' columns, each a list in the order of the seats."""
    seats = range(len(next(iter(columns.values()))))
    whens = " ".join(f"WHEN {number:d} THEN %s" for number in seats)
    sets = ", ".join(f"{name} = CASE number {whens} END" for name in columns)
    values = [value for column in columns.values() for value in column]
    _run(f"UPDATE {_SEAT} SET {sets} WHERE game_id = %s", [*values, game])  # noqa: S608


def close_attempt(game: int, fence: int, outcome: str, reason: str) -> None:
    """End an open attempt."""
    _run(
        f"UPDATE {_ATTEMPT} SET outcome = %s, ended_at = {_now()}, reason = %s"  # noqa: S608
        " WHERE game_id = %s AND fence = %s AND outcome = 'open'",
        [outcome, reason, game, fence],
    )


def drop_answers(attempt: int) -> None:
    """Remove the answers of an attempt."""
    _run(f"DELETE FROM {_ANSWER} WHERE attempt_id = %s", [attempt])  # noqa: S608


def keep_logs(rows: Sequence[tuple[int, int, str, str, str]]) -> None:
    """Add logs: attempt, seat, stderr, and notes and verdict as JSON."""
    if rows:
        marks = ", ".join("(%s, %s, %s, %s, %s)" for _ in rows)
        _run(
            f"INSERT INTO {_LOG} (attempt_id, number, stderr, notes, verdict)"  # noqa: S608
            f" VALUES {marks}",
            [value for row in rows for value in row],
        )
