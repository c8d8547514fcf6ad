"""The results of runs: a line of JSON for each mutant."""

import json
from collections import Counter
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path

from tests.mutation.areas import AREAS

ALL = "all"
Row = dict[str, str]


class Outcome(StrEnum):
    """The result of the tests with a mutant."""

    KILLED = "killed"
    SURVIVED = "survived"
    TIMEOUT = "timeout"


def read(file: Path) -> list[Row]:
    """Return the rows of a file."""
    return [json.loads(line) for line in file.read_text().splitlines()]


def table(file: Path) -> int:
    """Print how many mutants of each area were killed; return the exit code 0."""
    rows = read(file)
    print("| area | mutants | killed | of them by a time limit | survived |")
    print("|---|---|---|---|---|")
    for area in [*AREAS, ALL]:
        own = [row for row in rows if area in (row["area"], ALL)]
        late = sum(row["outcome"] == Outcome.TIMEOUT for row in own)
        killed = _killed(own)
        print(f"| {area} | {len(own)} | {killed} | {late} | {len(own) - killed} |")
    return 0


def compare(before_file: Path, after_file: Path) -> int:
    """Compare two files; return 1 if a mutant is no longer killed."""
    before = {row["id"]: row for row in read(before_file)}
    after = {row["id"]: row for row in read(after_file)}
    both = sorted(before.keys() & after.keys())
    print("| area | mutants in both | killed before | killed after | only before |")
    print("|---|---|---|---|---|")
    totals = Counter(row["area"] for row in before.values())
    totals[ALL] = len(before)
    for area in [*AREAS, ALL]:
        own = [id_ for id_ in both if area in (before[id_]["area"], ALL)]
        killed_before = _killed(before[id_] for id_ in own)
        killed_after = _killed(after[id_] for id_ in own)
        gone = totals[area] - len(own)
        print(f"| {area} | {len(own)} | {killed_before} | {killed_after} | {gone} |")
    lost = [id_ for id_ in both if _killed([before[id_]]) > _killed([after[id_]])]
    for id_ in lost:
        print(f"survives now: {id_} ({after[id_]['path']}:{after[id_]['line']})")
    for id_ in sorted(before.keys() - after.keys()):
        print(f"only before, {before[id_]['outcome']}: {id_}")
    return int(bool(lost))


def _killed(rows: Iterable[Row]) -> int:
    return sum(row["outcome"] != Outcome.SURVIVED for row in rows)
