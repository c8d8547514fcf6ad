"""Run all benchmarks and print one table: `python -m tests.bench [--short] [AREA …]`.

The command fails if an area cannot be measured, if a target is missed, or if a row has
no peer to compare with. All areas are measured before it fails. With `--short` each
area measures little, to prove that it runs, and no target is checked.
"""

import sys
import time
from collections.abc import Sequence
from importlib import import_module

from tests.bench.areas import AREAS, AreaFailed, Row, print_rows, rows_of, shown

REPORTS = {
    "scale": AREAS["scale"],
    "analysis": "tests.bench.analysis",
    "stories": "tests.bench.stories",
    "house_table": "tests.bench.house_table",
    "capacity": "tests.bench.capacity",
    "duplicates": "tests.bench.duplicates",
    "duplicate_ladders": "tests.bench.duplicate_ladders",
}
"""Programs of their own that take arguments. Most take minutes to hours, so they are no
areas."""
USAGE_ERROR = 2


def main(arguments: Sequence[str]) -> int:
    """Return the exit code: 0 if everything ran and all targets are met."""
    if arguments[:1] == ["--rows"]:
        print_rows(arguments[1])
        return 0
    name = arguments[0] if arguments else ""
    if name in REPORTS and (name not in AREAS or arguments[1:]):
        import_module(REPORTS[name]).report(arguments[1:])
        return 0
    short = "--short" in arguments
    areas = [argument for argument in arguments if argument != "--short"]
    if unknown := [area for area in areas if area not in AREAS]:
        print(f"No area: {', '.join(unknown)}. Areas: {', '.join(AREAS)}.")
        return USAGE_ERROR
    measure = _short_form if short else _table
    return _summary(measure(areas or list(AREAS)))


def _table(areas: Sequence[str]) -> list[str]:
    """Measure the areas and print their rows; return what is wrong."""
    faults = []
    print(f"{'area':<14}{'measured':>14}  {'target':<9}{'':<6} what", flush=True)
    for area in areas:
        try:
            rows = rows_of(area)
        except AreaFailed as error:
            print(f"{area:<14}{'-':>14}  {'-':<9}{'FAILED':<6} {error}", flush=True)
            faults.append(f"{area} was not measured: {error}")
            continue
        for row in rows:
            print(_line(area, row), flush=True)
            if row.fault:
                faults.append(f"{area}, {row.what}: {row.fault}")
    return faults


def _line(area: str, row: Row) -> str:
    value = "no peer" if row.value is None else shown(row.value)
    mark = "MISS" if row.fault else ""
    return f"{area:<14}{value:>14}  {row.target:<9}{mark:<6} {row.what}"


def _short_form(areas: Sequence[str]) -> list[str]:
    """Run the short form of the areas; return what is wrong."""
    faults = []
    for area in areas:
        began = time.monotonic()
        try:
            outcome = f"{len(rows_of(area, short=True))} rows"
        except AreaFailed as error:
            outcome = f"FAILED {error}"
            faults.append(f"{area} does not run: {error}")
        print(f"{area:<14}{time.monotonic() - began:6.1f} s  {outcome}", flush=True)
    return faults


def _summary(faults: Sequence[str]) -> int:
    print()
    if not faults:
        print("No failure.")
        return 0
    print(f"Failures: {len(faults)}")
    for fault in faults:
        print(f"- {fault}")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
