"""Run all benchmarks and print one table: `python -m tests.bench [AREA …]`.

Each area is measured in a process of its own, because some of them set up Django in
their own way. An area that cannot be measured on this machine says why, and a row that
misses its target is marked. Neither is a failure: on a busy machine the numbers are a
hint, not a verdict.
"""

import json
import subprocess
import sys
from importlib import import_module
from typing import Any

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
    "cli": "tests.bench.startup",
    "match": "tests.bench.match",
    "pages": "tests.bench.pages",
    "scale": "tests.bench.scale",
}
REPORTS = {
    "scale": AREAS["scale"],
    "analysis": "tests.bench.analysis",
    "house_table": "tests.bench.house_table",
    "capacity": "tests.bench.capacity",
    "duplicates": "tests.bench.duplicates",
    "duplicate_ladders": "tests.bench.duplicate_ladders",
}
"""Programs of their own that take arguments. Most take minutes to hours, so they are no
areas."""
AREA_TIMEOUT_S = 900
ROWS_PREFIX = "rows: "  # marks the one line of a child's output that the parent reads

Row = tuple[str, float | None, str, bool]


def rows_of(area: str) -> list[Row] | str:
    """Return the rows of an area, or a text that says why there are none."""
    command = [sys.executable, "-m", "tests.bench", "--rows", area]
    try:
        process = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=AREA_TIMEOUT_S
        )
    except subprocess.TimeoutExpired:
        return f"not measured: it took more than {AREA_TIMEOUT_S} s"
    for line in process.stdout.splitlines():
        if line.startswith(ROWS_PREFIX):
            return [tuple(row) for row in json.loads(line.removeprefix(ROWS_PREFIX))]
    last = (process.stderr.strip() or "it printed no error").splitlines()[-1]
    return f"not measured: {last}"


def line(area: str, row: Row) -> str:
    what, value, target, holds = row
    if value is None:
        return f"{area:<12}{'no peer':>14}  {target:<9}{'':<6} {what}"
    shown = f"{value:,.0f}" if value >= 1_000 else f"{value:,.2f}"
    mark = "" if holds else "MISS"
    return f"{area:<12}{shown:>14}  {target:<9}{mark:<6} {what}"


def main(arguments: list[str]) -> None:
    if arguments[:1] == ["--rows"]:
        module: Any = import_module(AREAS[arguments[1]])
        print(ROWS_PREFIX + json.dumps(module.measure()), flush=True)
        return
    name = arguments[0] if arguments else ""
    if name in REPORTS and (name not in AREAS or arguments[1:]):
        import_module(REPORTS[name]).report(arguments[1:])
        return
    print(f"{'area':<12}{'measured':>14}  {'target':<9}{'':<6} what", flush=True)
    for area in arguments or AREAS:
        rows = rows_of(area)
        if isinstance(rows, str):
            print(f"{area:<12}{'-':>14}  {'-':<9}{'':<6} {rows}", flush=True)
            continue
        for row in rows:
            print(line(area, row), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
