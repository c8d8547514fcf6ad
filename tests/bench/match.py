"""The gain of `torres match --jobs 2`: wall time and CPU time with one and two workers.

The bots are house bots that compute. Runs with one and with two workers take turns, so
that other programs of the machine disturb both. The ratio of the wall times needs two
processors that are free. The CPU time that the second worker adds does not.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from tests.bench.sizes import size

TORRES = Path(sys.executable).with_name("torres")
BOTS = ("house:greedy", "house:greedy")
GAMES = size(12, short=2)
TURNS = size(3, short=1)
MIN_GAIN = 1.7
MAX_CPU_RATIO = 1.15


def measure() -> list[tuple[str, float, str, bool]]:
    """Measure a match with one and two workers; return rows for the table."""
    walls: dict[int, list[float]] = {1: [], 2: []}
    cpus: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(TURNS):
        for jobs in (1, 2):
            wall, cpu = _play(jobs)
            walls[jobs].append(wall)
            cpus[jobs].append(cpu)
    gain = median(walls[1]) / median(walls[2])
    cpu_ratio = median(cpus[2]) / median(cpus[1])
    return [
        ("torres match: wall time of --jobs 1 / 2", gain, ">= 1.7", gain >= MIN_GAIN),
        (
            "torres match: CPU time of --jobs 2 / 1",
            cpu_ratio,
            "<= 1.15",
            cpu_ratio <= MAX_CPU_RATIO,
        ),
    ]


def _play(jobs: int) -> tuple[float, float]:
    """Play the match; return its wall time and its CPU time, in seconds."""
    with tempfile.TemporaryDirectory() as folder:
        start = time.monotonic()
        before = os.times()
        words = ["--games", str(GAMES), "--jobs", str(jobs), "--state", folder]
        subprocess.run(
            [TORRES, "match", *BOTS, *words, "--json"], check=True, capture_output=True
        )
        after = os.times()
        wall = time.monotonic() - start
    user = after.children_user - before.children_user
    return wall, user + after.children_system - before.children_system


if __name__ == "__main__":
    for row in measure():
        print(*row)
