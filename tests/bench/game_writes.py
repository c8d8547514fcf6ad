"""The cost of one game in PostgreSQL: log, statements, transactions and rows.

`manage.py up` plays house bots on a private server. The first games are not counted,
because a new database writes whole pages and plans its statements. PostgreSQL analyses
small tables again and again (4 kB a game here), and large ones rarely, so it does not
here.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import psycopg

from ladder.ops.chaos.servers import Postgres
from tests import databases
from tests.bench.sizes import size
from torres.common.pause import pause

FIRST_GAMES = size(30, short=2)
GAMES = size(150, short=3)
MANAGE = str(Path(__file__).parents[2] / "manage.py")
# Its own looks count, too.
POLL_S = size(5.0, short=0.2)
SHOWN = 0.1
MAX_WAL_KB = 15.0
MAX_STATEMENTS = 40.0
MAX_COMMITS = 12.0
# The checks of foreign keys count: they run when a transaction ends, and PostgreSQL
# counts them with the statements of clients. The service sends none of them.
COUNTERS = """
SELECT (SELECT wal_bytes FROM pg_stat_wal),
 (SELECT sum(calls) FROM pg_stat_statements WHERE toplevel),
 (SELECT sum(calls) FROM pg_stat_statements WHERE toplevel
  AND query LIKE 'SELECT $2 FROM ONLY %FOR KEY SHARE OF x'),
 (SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()),
 (SELECT sum(n_tup_ins + n_tup_upd + n_tup_del) FROM pg_stat_user_tables),
 (SELECT count(*) FROM games_game WHERE status = 'finished'),
 extract(epoch FROM clock_timestamp())
"""
BY_TABLE = """
SELECT relname, n_tup_ins, n_tup_upd, n_tup_hot_upd, n_tup_del FROM pg_stat_user_tables
"""
BY_STATEMENT = """
SELECT regexp_replace(left(query, 110), '\\s+', ' ', 'g'), calls, wal_bytes
 FROM pg_stat_statements WHERE toplevel
"""


class Counters(NamedTuple):
    """The counts of a server since its start."""

    wal_bytes: float
    statements: float
    key_checks: float
    commits: float
    rows: float
    games: float
    seconds: float


class CountingPostgres(Postgres):
    """A server that counts its statements."""

    def command(self) -> list[str]:
        counting = ["shared_preload_libraries=pg_stat_statements", "autovacuum=off"]
        return [
            *super().command(),
            *(word for each in counting for word in ("-c", each)),
        ]


def measure() -> list[tuple[str, float, str, bool]]:
    """Play with the whole service; return rows for the table."""
    with (
        TemporaryDirectory(prefix="torres-bench-") as name,
        _service(Path(name)) as session,
    ):
        _wait_for_games(session, FIRST_GAMES)
        before, earlier = _counters(session), _details(session)
        _wait_for_games(session, FIRST_GAMES + GAMES)
        after, later = _counters(session), _details(session)
    games = after.games - before.games
    _print_details(earlier, later, games)
    cost = Counters(
        *((new - old) / games for new, old in zip(after, before, strict=True))
    )
    wal_kb = cost.wal_bytes / 1000
    return [
        ("WAL of a game, kB", wal_kb, "<= 15", wal_kb <= MAX_WAL_KB),
        (
            "statements of a game",
            cost.statements,
            "<= 40",
            cost.statements <= MAX_STATEMENTS,
        ),
        ("of these, checks of foreign keys", cost.key_checks, "", True),
        (
            "transactions of a game",
            cost.commits,
            "<= 12",
            cost.commits <= MAX_COMMITS,
        ),
        ("rows written in a game", cost.rows, "", True),
        ("seconds for each game", cost.seconds, "", True),
    ]


@contextmanager
def _service(folder: Path) -> Iterator[psycopg.Connection[tuple[float, ...]]]:
    """Run a service on a server of its own; yield a session of the database."""
    folder.chmod(0o755)
    server = CountingPostgres(folder / "cluster", "127.0.0.1", ())
    server.folder.mkdir()
    databases.create_postgres(server)
    env = os.environ | {
        "DATABASE_URL": server.url,
        "TORRES_DATA": str(folder / "data"),
        "SECRET_KEY": 50 * "k",
    }
    env.pop("BROKER_URL", None)
    service = subprocess.Popen(
        [sys.executable, MANAGE, "up", "--port", "0"],
        env=env,
        stdout=subprocess.DEVNULL,
    )
    try:
        with psycopg.connect(server.url, autocommit=True) as session:
            session.execute("CREATE EXTENSION pg_stat_statements")
            yield session
    finally:
        service.terminate()
        service.wait()
        server.close()


def _wait_for_games(session: psycopg.Connection[tuple[float, ...]], games: int) -> None:
    finished = "SELECT count(*) FROM games_game WHERE status = 'finished'"
    count = 0
    while count < games:
        pause(POLL_S)
        with suppress(psycopg.errors.UndefinedTable):
            ((count,),) = session.execute(finished)


def _counters(session: psycopg.Connection[tuple[float, ...]]) -> Counters:
    (row,) = session.execute(COUNTERS)
    return Counters(*(float(value or 0) for value in row))


def _details(
    session: psycopg.Connection[tuple[float, ...]],
) -> dict[str, list[float]]:
    """Return the counters of each table and of each statement."""
    found = (
        session.execute(BY_TABLE).fetchall() + session.execute(BY_STATEMENT).fetchall()
    )
    details: dict[str, list[float]] = {}
    for name, *counts in found:
        sums = details.setdefault(str(name), [0.0] * len(counts))
        details[str(name)] = [
            old + float(new) for old, new in zip(sums, counts, strict=True)
        ]
    return details


def _print_details(
    before: dict[str, list[float]], after: dict[str, list[float]], games: float
) -> None:
    """Print the writes of a game to each table, and its statements."""
    lines = []
    for name, counts in after.items():
        old = before.get(name, [0.0] * len(counts))
        each = [float(n - o) / games for n, o in zip(counts, old, strict=True)]
        if max(each) > SHOWN:
            lines.append((len(each), each, name))
    for _, each, name in sorted(lines, reverse=True):
        print(*(f"{value:9.2f}" for value in each), name, file=sys.stderr)
