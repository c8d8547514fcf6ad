"""Prepares databases, lets a process of its own measure each, and prints the table."""

import json
import math
import os
import secrets
import subprocess
import sys
import tempfile
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from ladder.ops.programs import ProgramMissing, find_program
from tests import servers
from tests.bench.sizes import size

DEFAULT_GAMES = size(1000, short=60)
ROWS_PREFIX = "rows: "  # marks the line of the child's output that the parent reads


class MeasuredRow(NamedTuple):
    """A row of the table. All times are in ms, or in percent of a processor.

    `cpu` is that of the program and of its database, `queries` the number of SQL
    statements. `target` is None for a row that only informs. `cpu` and `wall` are
    medians.
    """

    name: str
    target: float | None
    unit: str
    cpu: float
    wall: float
    queries: int
    least_cpu: float

    @property
    def holds(self) -> bool:
        return self.target is None or self.cpu <= self.target


class SizedTable(NamedTuple):
    """The rows that were measured with this number of games."""

    games: int
    rows: list[MeasuredRow]


def measure() -> list[tuple[str, float, str, bool]]:
    """Return rows of (name, ms of CPU, target, True if met) for a small database."""
    with _new_database(sqlite=not _has_postgres()) as environment:
        table = _measure(environment, DEFAULT_GAMES)
    return [
        (
            f"{row.name}, {row.unit} with {table.games} games ({row.queries} queries)",
            row.cpu,
            f"≤ {row.target:g}" if row.target is not None else "-",
            row.holds,
        )
        for row in table.rows
    ]


def report(arguments: Sequence[str]) -> None:
    """Measure the databases or sizes that the command names, and print all tables."""
    options = _options(arguments)
    tables = []
    for environment, games in _databases(options):
        table = _measure(environment, games, "routes" if options.routes else "costs")
        _print_table(table)
        tables.append(table)
    if len(tables) > 1:
        _print_growth(sorted(tables))


def _options(arguments: Sequence[str]) -> Namespace:
    parser = ArgumentParser(prog="python -m tests.bench scale", description=__doc__)
    parser.add_argument(
        "--games",
        type=int,
        nargs="+",
        default=[DEFAULT_GAMES],
        help="the sizes; there is a bot for each hundred games, but at least 200",
    )
    parser.add_argument(
        "--database",
        nargs="+",
        default=[],
        help="URLs of databases to use instead of new ones; an empty one is filled."
        " Their files are in TORRES_DATA",
    )
    parser.add_argument(
        "--sqlite", action="store_true", help="use SQLite, not a PostgreSQL of its own"
    )
    parser.add_argument(
        "--routes",
        action="store_true",
        help="measure the list routes of the REST API with all filters instead",
    )
    return parser.parse_args(arguments)


def _databases(options: Namespace) -> Iterator[tuple[dict[str, str], int]]:
    """Yield an environment and a size for each database that is to be measured."""
    if options.database:
        sizes = options.games * len(options.database)
        for url, games in zip(options.database, sizes, strict=False):
            data = os.environ.get("TORRES_DATA") or tempfile.mkdtemp()
            yield {"DATABASE_URL": url, "TORRES_DATA": data}, games
        return
    for games in options.games:
        with _new_database(sqlite=options.sqlite) as environment:
            yield environment, games


def _has_postgres() -> bool:
    try:
        find_program("initdb")
    except ProgramMissing:
        return False
    return True


@contextmanager
def _new_database(*, sqlite: bool) -> Iterator[dict[str, str]]:
    """Provide an empty database; it and its files are deleted in the end."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)  # the server runs as another user
        environment = {"TORRES_DATA": str(folder / "data")}
        if sqlite:
            url = f"sqlite:///{folder / 'ladder.db'}"
            yield environment | {"DATABASE_URL": url}
            return
        with servers.postgres(folder / "postgres", migrated=True) as server:
            yield environment | {"DATABASE_URL": server.url}


def _measure(
    environment: dict[str, str], games: int, table: str = "costs"
) -> SizedTable:
    """Measure in a process of its own, because Django is set up once in a process."""
    extra = {
        "SECRET_KEY": secrets.token_hex(32),
        "DJANGO_SETTINGS_MODULE": "ladder.settings",
        "TORRES_FRESH_SECONDS": "0",
        "TORRES_RATE_ANONYMOUS": "100000000",
        "TORRES_RATE_PAGES": "100000000",
        "TORRES_SANDBOX": "none",
        "TORRES_UNSAFE": "1",
        "BROKER_URL": "memory://",
    }
    child = subprocess.run(
        [sys.executable, "-m", "tests.bench.scale.child", str(games), table],
        env=os.environ | environment | extra,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    lines = child.stdout.splitlines()
    line = next(line for line in lines if line.startswith(ROWS_PREFIX))
    content = json.loads(line.removeprefix(ROWS_PREFIX))
    rows = [MeasuredRow(*row) for row in content["rows"]]
    return SizedTable(content["games"], rows)


def _print_table(table: SizedTable) -> None:
    load = os.getloadavg()[0]
    print(f"\n{table.games:,} games; load of the machine {load:.1f}")
    print(f"{'CPU':>9} {'least':>9} {'wall':>9} {'target':>8} {'queries':>8}")
    for row in table.rows:
        target = "-" if row.target is None else f"{row.target:g}"
        mark = "" if row.holds else "MISS"
        costs = f"{row.cpu:9.1f} {row.least_cpu:9.1f} {row.wall:9.1f}"
        print(
            f"{costs} {target:>8} {row.queries:8} {mark:4} {row.name}, {row.unit}",
            flush=True,
        )


def _print_growth(tables: Sequence[SizedTable]) -> None:
    """Print the exponent of each row: CPU grows like the games to this power."""
    sizes = [math.log(table.games) for table in tables]
    by_name: dict[str, list[float]] = {}
    for table in tables:
        for row in table.rows:
            by_name.setdefault(row.name, []).append(row.cpu)
    print("\nGrowth of the CPU time, as a power of the number of games")
    for name, costs in by_name.items():
        if len(costs) == len(sizes) and min(costs) > 0:
            shown = " ".join(f"{cost:9.1f}" for cost in costs)
            print(f"{_slope(sizes, [math.log(c) for c in costs]):6.2f} {shown}  {name}")


def _slope(xs: Sequence[float], ys: Sequence[float]) -> float:
    """Return the slope of the line of least squares."""
    x_mean = sum(xs) / len(xs)
    y_mean = sum(ys) / len(ys)
    products = sum((x - x_mean) * (y - y_mean) for x, y in zip(xs, ys, strict=True))
    return products / sum((x - x_mean) ** 2 for x in xs)
