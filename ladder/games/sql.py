"""Hand-written SQL for the hot path of a game, for PostgreSQL and SQLite.

Finishing a game through the ORM spent most of its time on composing queries, and most
of the rest on planning them in PostgreSQL (tests/bench). The statements here are
constant texts, so PostgreSQL prepares each of them once for each connection. Names of
tables come from the models. This module does not know when or why a statement runs.
"""

import json
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from django.db import connection, transaction

from ladder.bots.models import Bot, Submission
from ladder.common.fixed_query import fetch_all, preparing_cursor
from ladder.events.kinds import EventKind
from ladder.events.models import Fact
from ladder.games.models import (
    AnswerBatch,
    Attempt,
    Game,
    LogUse,
    Match,
    Seat,
    SeatLog,
    Worker,
)
from ladder.public_log.models import DeckBatch, LogHead, LogLeaf
from torres.tlog.leaves import LeafKind

_GAME, _SEAT, _ATTEMPT, _ANSWER, _LOG, _LOG_USE, _WORKER, _MATCH = (
    model._meta.db_table  # noqa: SLF001 -- the documented way to a table's name
    for model in (Game, Seat, Attempt, AnswerBatch, SeatLog, LogUse, Worker, Match)
)
_SUBMISSION, _BOT, _FACT = (
    model._meta.db_table  # noqa: SLF001
    for model in (Submission, Bot, Fact)
)
_LEAF, _LOG_HEAD, _BATCH = (
    model._meta.db_table  # noqa: SLF001
    for model in (LogLeaf, LogHead, DeckBatch)
)


class Statement(NamedTuple):
    """A statement that changes rows, and the values of its placeholders.

    The text ends with its WHERE clause, so that `execute` can add a condition.
    """

    sql: str
    values: list[Any]


class DueGame(NamedTuple):
    """A game that needs a hint; `again` if a hint was sent or an attempt failed."""

    game: int
    queue: str
    needs: str
    budget: str
    again: bool


class OpenGames(NamedTuple):
    """How many open games have the same budget and needs, and are equally far.

    `queue` is the queue of their hints, or "" without a hint that may still arrive.
    """

    budget: str
    needs: str
    running: bool
    queue: str
    games: int

    @property
    def hold_slots(self) -> bool:
        return self.running or bool(self.queue)


class Offence(NamedTuple):
    """A seat, its bot, and how many other games had failed attempts in its seat."""

    seat: int
    bot: int
    games: int


class SeatedBot(NamedTuple):
    """A seat of a game with the slug of its bot, and what its match is.

    `ladder` is "" if no ladder rates the match. `owner` is the id of a user.
    """

    number: int
    submission: int
    bot: str
    owner: int | None
    match: int
    kind: str
    ladder: str
    embargo: bool


class LoggedPlan(NamedTuple):
    """The leaf in the newest signed tree with which a match asks for decks.

    `leaf` is its number and `hash` its hash, which is empty if a tile has it. `batch`
    is the one that it names: the newest one that was committed to before it, and
    `witnesses` has the public keys of the batch's witnesses. `deal_of`
    is the first of `sharing` matches that share a deal; None and 0 if the match has
    decks of its own. `used` has the hashes from which its former decks followed.
    """

    match: int
    leaf: int
    hash: bytes
    batch: int
    witnesses: tuple[str, ...]
    deal_of: int | None
    sharing: int
    used: tuple[bytes, ...]


class DealtMatch(NamedTuple):
    """A match that gets its decks.

    `hash` identifies the leaf that asked for the decks; `own_plan` identifies this
    match's own plan. `entropy` is from the cosignatures on the tree.
    """

    match: int
    seed: str
    batch: int
    hash: bytes
    own_plan: bytes
    entropy: bytes


class LogRow(NamedTuple):
    """A row of SeatLog; `notes` and `verdict` are JSON texts."""

    attempt: int
    seat: int
    stderr: str
    notes: str
    verdict: str


def execute(first: Statement, *others: Statement) -> bool:
    """Execute a statement and, if it changed a row, the others. All or none.

    Return whether the first statement changed a row. On PostgreSQL everything is one
    statement, because each statement costs a round trip and a transaction costs two
    more. Therefore no statement sees what the others change.
    """
    if not others:
        return bool(_execute(first))
    if connection.vendor == "sqlite":
        return _execute_in_transaction(first, others)
    parts = [f"first AS ({first.sql} RETURNING 1)"]
    values = list(first.values)
    for number, other in enumerate(others):
        parts.append(f"other{number} AS ({other.sql} AND EXISTS (TABLE first))")
        values += other.values
    return bool(fetch_all(f"WITH {', '.join(parts)} TABLE first", values))


def _execute_in_transaction(first: Statement, others: Sequence[Statement]) -> bool:
    with transaction.atomic():
        if not _execute(first):
            return False
        for other in others:
            _execute(other)
    return True


def _execute(statement: Statement) -> int:
    """Return how many rows the statement changed."""
    with preparing_cursor() as cursor:
        cursor.execute(statement.sql, statement.values)
        return int(cursor.rowcount)


def _now(offset_s: float = 0.0) -> str:
    """Return SQL for the database's clock plus an offset in seconds."""
    if connection.vendor == "sqlite":
        form = "%%Y-%%m-%%d %%H:%%M:%%f"
        return f"STRFTIME('{form}', 'NOW', '{offset_s:+f} seconds')"
    return f"STATEMENT_TIMESTAMP() + INTERVAL '{offset_s:f} seconds'"


def _is_one_of(numbers: Collection[int]) -> Statement:
    """Return the condition that a column is one of these numbers.

    The text is the same for every count of numbers, so that it is prepared only once.
    """
    if connection.vendor == "sqlite":
        condition = "IN (SELECT value FROM JSON_EACH(%s))"
        return Statement(condition, [json.dumps([*numbers])])
    return Statement("= ANY(%s)", [[*numbers]])


def _given(
    names: Sequence[str], types: Sequence[str], rows: Sequence[Sequence[Any]]
) -> Statement:
    """Return these rows as a table `given` for the FROM clause of a statement.

    PostgreSQL gets an array for each column. So the text is the same for every count of
    rows, and it is prepared only once.
    """
    columns = ", ".join(names)
    if connection.vendor == "sqlite":
        row = f"({', '.join('%s' for _ in names)})"
        table = f"WITH given ({columns}) AS (VALUES {', '.join(row for _ in rows)})"
        values = [value for row in rows for value in row]
        return Statement(f"({table} SELECT * FROM given) AS given", values)  # noqa: S608
    arrays = ", ".join(f"%b::{type_}[]" for type_ in types)
    values = [list(column) for column in zip(*rows, strict=True)]
    return Statement(f"UNNEST({arrays}) AS given ({columns})", values)


def due(
    limit: int, hint_s: float, needs: Collection[str], budgets: Collection[str]
) -> list[DueGame]:
    """List scheduled games with decks and without a hint in the last `hint_s` seconds.

    Higher priorities come first, then older games. Games with one of these `needs` or
    `budgets` are left out.
    """
    left_out = ""
    for column, values in (("needs", needs), ("budget", budgets)):
        if values:
            left_out += f" AND {column} NOT IN ({', '.join('%s' for _ in values)})"
    rows = fetch_all(
        "SELECT id, queue, needs, budget, sent_at IS NOT NULL OR failures > 0"  # noqa: S608
        f" FROM {_GAME} WHERE status = 'scheduled'"
        f" AND (sent_at IS NULL OR sent_at < {_now(-hint_s)}){left_out}"
        f" AND EXISTS (SELECT 1 FROM {_MATCH} m WHERE m.id = match_id AND m.seed <> '')"
        " ORDER BY priority DESC, id LIMIT %s",
        [*needs, *budgets, limit],
    )
    return [DueGame(*row) for row in rows]


def open_games(hint_s: float) -> list[OpenGames]:
    """Count the open games. A hint of the last `hint_s` seconds may still arrive."""
    rows = fetch_all(
        "SELECT budget, needs, status = 'running', CASE WHEN status = 'scheduled'"  # noqa: S608
        f" AND sent_at >= {_now(-hint_s)} THEN sent_to ELSE '' END, COUNT(*)"
        f" FROM {_GAME} WHERE status IN ('scheduled', 'running') GROUP BY 1, 2, 3, 4",
        [],
    )
    return [OpenGames(*row) for row in rows]


def mark_sent(games: Collection[int], queue: str) -> Statement:
    """Record that hints for these scheduled games are sent now, and to which queue."""
    condition = _is_one_of(games)
    sql = (
        f"UPDATE {_GAME} SET sent_at = {_now()}, sent_to = %s"  # noqa: S608
        f" WHERE status = 'scheduled' AND id {condition.sql}"
    )
    return Statement(sql, [queue, *condition.values])


def take_game(game: int, worker: int, lease_s: float) -> int | None:
    """Give a scheduled game to a worker and return the new fence.

    Return None if the game is not scheduled or has no decks yet, or if the worker is
    drained or gone.
    """
    rows = fetch_all(
        f"UPDATE {_GAME} SET status = 'running', owner_id = %s,"  # noqa: S608
        f" lease_until = {_now(lease_s)}, fence = fence + 1,"
        f" started_at = COALESCE(started_at, {_now()})"
        " WHERE id = %s AND status = 'scheduled' AND EXISTS (SELECT 1"
        f" FROM {_WORKER} w WHERE w.id = %s AND NOT w.drained AND w.gone_at IS NULL)"
        f" AND EXISTS (SELECT 1 FROM {_MATCH} m WHERE m.id = match_id AND m.seed <> '')"
        " RETURNING fence",
        [worker, game, worker],
    )
    return int(rows[0][0]) if rows else None


def open_attempt(game: int, fence: int, worker: int) -> int:
    """Add an attempt and return its id."""
    rows = fetch_all(
        f"INSERT INTO {_ATTEMPT} (game_id, fence, worker_id, started_at, outcome,"  # noqa: S608
        f" reason) VALUES (%s, %s, %s, {_now()}, 'open', '') RETURNING id",
        [game, fence, worker],
    )
    return int(rows[0][0])


def offences(game: int, window_s: float) -> list[Offence]:
    """Count, by seat, the other games with failed attempts in the seat of its bot.

    Only attempts of the last `window_s` seconds count, with any version of the bot.
    """
    rows = fetch_all(
        "SELECT here.number, here.bot_id, COUNT(DISTINCT a.game_id)"  # noqa: S608
        f" FROM {_SEAT} here JOIN {_ATTEMPT} a ON a.bot_id = here.bot_id"
        f" AND a.outcome = 'failed' AND a.ended_at > {_now(-window_s)}"
        " WHERE here.game_id = %s AND a.game_id <> here.game_id"
        " GROUP BY here.number, here.bot_id",
        [game],
    )
    return [Offence(*row) for row in rows]


def finish_game(
    game: int, fence: int, reason: str, engine: str, replay: bytes
) -> Statement:
    """Write the result of a game if it is still running under this fence."""
    sql = (
        f"UPDATE {_GAME} SET status = 'finished', owner_id = NULL,"  # noqa: S608
        f" lease_until = NULL, finished_at = {_now()}, reason = %s, engine = %s,"
        " replay = %s WHERE id = %s AND fence = %s AND status = 'running'"
    )
    return Statement(sql, [reason, engine, replay, game, fence])


def write_seats(game: int, columns: dict[str, list[Any]]) -> Statement:
    """Write columns of a game's seats; each list is in the order of the seats."""
    count = len(next(iter(columns.values())))
    cases = " ".join(f"WHEN {number:d} THEN %s" for number in range(count))
    assignments = ", ".join(f"{name} = CASE number {cases} END" for name in columns)
    values = [value for column in columns.values() for value in column]
    sql = f"UPDATE {_SEAT} SET {assignments} WHERE game_id = %s"  # noqa: S608
    return Statement(sql, [*values, game])


def close_attempt(game: int, fence: int, outcome: str, reason: str) -> Statement:
    """End an open attempt."""
    sql = (
        f"UPDATE {_ATTEMPT} SET outcome = %s, ended_at = {_now()}, reason = %s"  # noqa: S608
        " WHERE game_id = %s AND fence = %s AND outcome = 'open'"
    )
    return Statement(sql, [outcome, reason, game, fence])


def seated_bots(game: int) -> list[SeatedBot]:
    """Return the seats of a game by their numbers."""
    rows = fetch_all(
        "SELECT s.number, s.submission_id, b.slug, b.owner_id,"  # noqa: S608
        f" m.id, m.kind, m.ladder, m.embargo FROM {_SEAT} s"
        f" JOIN {_BOT} b ON b.id = s.bot_id JOIN {_GAME} g ON g.id = s.game_id"
        f" JOIN {_MATCH} m ON m.id = g.match_id WHERE g.id = %s ORDER BY s.number",
        [game],
    )
    return [SeatedBot(*row) for row in rows]


def insert_finished_fact(game: int, data: str, owners: str, leaf: str) -> Statement:
    """Record that a game is finished, as its match is now.

    Under embargo there is no event, and the leaf is sealed. A comparison is private,
    and not logged. `data` and `owners` of the event and `leaf` are JSON texts.
    """
    as_json = "%s" if connection.vendor == "sqlite" else "%s::jsonb"
    sql = (
        f"INSERT INTO {_FACT} (kind, data, owners, public,"  # noqa: S608
        " leaf_kind, leaf_subject, leaf_seal, leaf_data)"
        f" SELECT CASE WHEN m.embargo THEN '' ELSE %s END, {as_json}, {as_json},"
        " m.kind <> 'comparison',"
        " CASE WHEN m.kind = 'comparison' THEN '' ELSE %s END, g.id,"
        " CASE WHEN m.embargo THEN m.id END, %s"
        f" FROM {_GAME} g JOIN {_MATCH} m ON m.id = g.match_id WHERE g.id = %s"
    )
    event_kind = EventKind.GAME_FINISHED.value
    leaf_kind = LeafKind.GAME_FINISHED.value
    return Statement(sql, [event_kind, data, owners, leaf_kind, leaf, game])


def logged_plans() -> list[LoggedPlan]:
    """List what is in the signed tree of matches that ask for decks, oldest first."""
    asking = [LeafKind.MATCH_PLANNED.value, LeafKind.DECKS_RENEWED.value]
    rows = fetch_all(
        "SELECT m.id, l.number, l.hash, b.number, b.witnesses,"  # noqa: S608
        " CASE WHEN l.kind = %s THEN m.deal_of_id END, CASE WHEN l.kind = %s THEN"
        f" (SELECT COUNT(*) FROM {_MATCH} s WHERE s.deal_of_id = m.deal_of_id)"
        f" ELSE 0 END, m.plan_hash, m.own_plan FROM {_MATCH} m"
        f" JOIN {_LEAF} l ON l.number = (SELECT MAX(number) FROM {_LEAF}"
        " WHERE subject = m.id AND kind IN (%s, %s))"
        f" JOIN {_LOG_HEAD} h ON l.number < h.size"
        f" JOIN {_BATCH} b ON b.number = (SELECT MAX(number) FROM {_BATCH}"
        " WHERE revealed_at IS NULL AND leaf < l.number)"
        " WHERE m.seed = '' ORDER BY m.id",
        [asking[0], asking[0], *asking],
    )
    return [
        LoggedPlan(
            *(
                match,
                leaf,
                hash_,
                batch,
                tuple(json.loads(witnesses)),
                deal_of,
                sharing,
            ),
            used=tuple(bytes(each) for each in used if each),
        )
        for match, leaf, hash_, batch, witnesses, deal_of, sharing, *used in rows
    ]


def deal_matches(rows: Sequence[DealtMatch], size: int, root: bytes) -> dict[int, bool]:
    """Give matches the decks of a signed tree. A match that has decks keeps them.

    Return the matches that got decks, and whether each is under embargo.
    """
    types = ("bigint", "text", "bigint", "bytea", "bytea", "bytea")
    given = _given(DealtMatch._fields, types, rows)
    own_plan = "CASE WHEN deal_of_id IS NULL THEN NULL ELSE given.own_plan END"
    dealt = fetch_all(
        f"UPDATE {_MATCH} SET seed = given.seed, batch_id = given.batch,"  # noqa: S608
        " plan_hash = given.hash, deal_size = %s, deal_root = %s,"
        f" deal_entropy = given.entropy, own_plan = COALESCE({_MATCH}.own_plan,"
        f" {own_plan}) FROM {given.sql} WHERE {_MATCH}.id = given.match"
        f" AND {_MATCH}.seed = '' RETURNING id, embargo",
        [size, root, *given.values],
    )
    return {int(match): bool(embargo) for match, embargo in dealt}


def count_dealt(batch: int, matches: int) -> Statement:
    """Add matches to those of a batch that have decks."""
    sql = f"UPDATE {_BATCH} SET matches = matches + %s WHERE number = %s"  # noqa: S608
    return Statement(sql, [matches, batch])


def store_answers(attempt: int, first: int, end: int, answers: str) -> Statement:
    """Add answers that begin at this index, or replace them; `answers` is JSON."""
    as_json = "%s" if connection.vendor == "sqlite" else "%s::jsonb"
    sql = (
        f'INSERT INTO {_ANSWER} (attempt_id, first, "end", answers)'  # noqa: S608
        f" VALUES (%s, %s, %s, {as_json}) ON CONFLICT (attempt_id, first)"
        ' DO UPDATE SET "end" = excluded."end", answers = excluded.answers'
    )
    return Statement(sql, [attempt, first, end, answers])


def delete_answers(attempt: int) -> Statement:
    """Delete the stored answers of an attempt."""
    return Statement(f"DELETE FROM {_ANSWER} WHERE attempt_id = %s", [attempt])  # noqa: S608


def add_log_use(game: int, seat: int, size: int) -> int:
    """Count `size` bytes of logs of a seat's bot; return its bytes of today (UTC)."""
    rows = fetch_all(
        f"INSERT INTO {_LOG_USE} (bot_id, day, bytes)"  # noqa: S608
        f" SELECT u.bot_id, CURRENT_DATE, %s FROM {_SEAT} s"
        f" JOIN {_SUBMISSION} u ON u.id = s.submission_id"
        " WHERE s.game_id = %s AND s.number = %s"
        " ON CONFLICT (bot_id, day)"
        f" DO UPDATE SET bytes = {_LOG_USE}.bytes + excluded.bytes RETURNING bytes",
        [size, game, seat],
    )
    return int(rows[0][0]) if rows else 0


def insert_logs(rows: Sequence[LogRow]) -> list[Statement]:
    """Add the logs of seats; return no statement if there are no rows."""
    if not rows:
        return []
    as_json = "%s" if connection.vendor == "sqlite" else "%s::jsonb"
    placeholders = ", ".join(f"(%s, %s, %s, {as_json}, {as_json})" for _ in rows)
    # WHERE TRUE is there because `execute` adds a condition.
    sql = (
        f"INSERT INTO {_LOG} (attempt_id, number, stderr, notes, verdict)"  # noqa: S608
        f" SELECT * FROM (VALUES {placeholders}) AS given WHERE TRUE"
    )
    return [Statement(sql, [value for row in rows for value in row])]
