"""The start of the `torres` command: the CPU time until a subcommand prints its help.

CPU time is the figure that does not depend on the neighbours of this machine. On an
idle machine it is nearly the time that a person waits.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

from ladder.cli.commands import COMMANDS

MAX_START_MS = 300
TRIES = 5
TORRES = Path(sys.executable).with_name("torres")


def start_cpu_ms(command: str, tries: int = 3) -> float:
    """Return the CPU time of `torres COMMAND --help`: the best of some tries, in ms."""
    return min(_one_start_ms(command) for _ in range(tries))


def _one_start_ms(command: str) -> float:
    before = os.times()
    subprocess.run(
        [TORRES, *command.split(), "--help"], check=True, stdout=subprocess.DEVNULL
    )
    after = os.times()
    user = after.children_user - before.children_user
    return 1e3 * (user + after.children_system - before.children_system)


def _wall_ms(command: str) -> float:
    start = time.monotonic()
    _one_start_ms(command)
    return 1e3 * (time.monotonic() - start)


def measure() -> list[tuple[str, float | None, str, bool]]:
    """Measure every command; return rows for the table of all benchmarks."""
    target = f"<= {MAX_START_MS}"
    rows: list[tuple[str, float | None, str, bool]] = []
    for command in ("", *COMMANDS):
        ms = start_cpu_ms(command, TRIES)
        wall = min(_wall_ms(command) for _ in range(TRIES))
        name = f"torres {command}".strip()
        what = f"ms of CPU time: {name} --help (wall {wall:.0f} ms)"
        rows.append((what, ms, target, ms <= MAX_START_MS))
    return rows
