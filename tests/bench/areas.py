"""The areas of the benchmarks, each measured in a process of its own.

Some areas set up Django in their own way, so they cannot share a process.
"""

import json
import os
import subprocess
import sys
from importlib import import_module
from typing import Any, NamedTuple

from tests.bench.sizes import SHORT_VARIABLE

AREAS = {
    "engine": "tests.bench.bench_engine",
    "environments": "tests.bench.environments",
    "sandbox": "tests.bench.sandbox",
    "execution": "tests.bench.execution",
    "matchmaking": "tests.bench.matchmaking",
    "leaderboard": "tests.bench.leaderboard",
    "second opinion": "tests.bench.second_opinion",
    "anomalies": "tests.bench.anomalies",
    "public log": "tests.bench.public_log",
    "audit": "tests.bench.audit",
    "cli": "tests.bench.startup",
    "match": "tests.bench.match",
    "pages": "tests.bench.pages",
    "game writes": "tests.bench.game_writes",
    "scale": "tests.bench.scale",
}
AREA_TIMEOUT_S = 3600
ROWS_PREFIX = "rows: "  # marks the one line of a child's output that the parent reads
NO_TARGET = ("", "-")


class AreaFailed(Exception):
    """The area could not be measured; the message says why."""


class Row(NamedTuple):
    """One figure; `value` is None if there is no peer to compare with."""

    what: str
    value: float | None
    target: str
    holds: bool

    @property
    def fault(self) -> str | None:
        """Return why the target is not met; None if it is, or if there is none."""
        if self.target in NO_TARGET:
            return None
        if self.value is None:
            return "no peer to compare with"
        return None if self.holds else f"{shown(self.value)}, target {self.target}"


def shown(value: float) -> str:
    """Return a figure as it stands in the table."""
    return f"{value:,.0f}" if value >= 1_000 else f"{value:,.2f}"


def print_rows(area: str) -> None:
    """Measure an area in this process, and print its rows for `rows_of`."""
    module: Any = import_module(AREAS[area])
    print(ROWS_PREFIX + json.dumps(module.measure()), flush=True)


def rows_of(area: str, *, short: bool = False) -> list[Row]:
    """Measure an area in a process of its own. Raises AreaFailed."""
    command = [sys.executable, "-m", "tests.bench", "--rows", area]
    try:
        process = subprocess.run(
            command,
            env=os.environ | {SHORT_VARIABLE: str(int(short))},
            capture_output=True,
            text=True,
            check=False,
            timeout=AREA_TIMEOUT_S,
        )
    except subprocess.TimeoutExpired:
        raise AreaFailed(f"It took more than {AREA_TIMEOUT_S} s.") from None
    for line in process.stdout.splitlines():
        if process.returncode == 0 and line.startswith(ROWS_PREFIX):
            return [Row(*row) for row in json.loads(line.removeprefix(ROWS_PREFIX))]
    silent = f"It ended with code {process.returncode}."
    raise AreaFailed((process.stderr.strip() or silent).splitlines()[-1])
