"""All benchmarks in one table: `python -m tests.bench [ROOM …]`.

Each room is measured in a process of its own, since some set up Django their own way. A
room that cannot be measured here says why; a row below its target is marked. Neither is
a failure: on a busy machine, numbers are to be read, not obeyed.
"""

import json
import subprocess
import sys
from importlib import import_module
from typing import Any

ROOMS = {
    "engine": "tests.bench.bench_engine",
    "sandbox": "tests.bench.sandbox",
    "execution": "tests.bench.execution",
    "matchmaking": "tests.bench.matchmaking",
    "leaderboard": "tests.bench.leaderboard",
}
PATIENCE = 900  # seconds for a room
MARK = "rows: "  # before the line that is for us; what else is printed is not

Row = tuple[str, float | None, str, bool]


def rows_of(room: str) -> list[Row] | str:
    """Return the rows of a room, or why there are none."""
    command = [sys.executable, "-m", "tests.bench", "--rows", room]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=PATIENCE
        )
    except subprocess.TimeoutExpired:
        return f"not measured: it took more than {PATIENCE} s"
    for line in done.stdout.splitlines():
        if line.startswith(MARK):
            return [tuple(row) for row in json.loads(line.removeprefix(MARK))]
    last = (done.stderr.strip() or "it said nothing").splitlines()[-1]
    return f"not measured: {last}"


def line(room: str, row: Row) -> str:
    what, value, target, holds = row
    if value is None:
        return f"{room:<12}{'no peer':>14}  {target:<9}{'':<6} {what}"
    shown = f"{value:,.0f}" if value >= 1_000 else f"{value:,.2f}"
    mark = "" if holds else "MISS"
    return f"{room:<12}{shown:>14}  {target:<9}{mark:<6} {what}"


def main(arguments: list[str]) -> None:
    if arguments[:1] == ["--rows"]:
        module: Any = import_module(ROOMS[arguments[1]])
        print(MARK + json.dumps(module.measure()), flush=True)
        return
    print(f"{'room':<12}{'measured':>14}  {'target':<9}{'':<6} what", flush=True)
    for room in arguments or ROOMS:
        rows = rows_of(room)
        if isinstance(rows, str):
            print(f"{room:<12}{'-':>14}  {'-':<9}{'':<6} {rows}", flush=True)
            continue
        for row in rows:
            print(line(room, row), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
