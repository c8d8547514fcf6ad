"""The start of the `torres` command: the CPU time until a subcommand prints its help.

CPU time depends less on the neighbours of this machine than wall time does. On an idle
machine it is nearly the time that a person waits. Each command is compared with
`pip --help`, a program of similar size that starts in the same run.
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.bench.sizes import size
from torres.cli.commands import COMMANDS

MAX_START_PER_PIP = 1.5
"""A command may need this multiple of the CPU time of `pip --help`."""
TRIES = size(5, short=1)
MEASURED = size(("", *COMMANDS), short=("", "play"))
"""The commands that are measured; "" is `torres` itself."""
PIP = [sys.executable, "-m", "pip"]
TORRES = Path(sys.executable).with_name("torres")


def start_cpu_ms(command: str, tries: int = 3) -> float:
    """Return the CPU time of `torres COMMAND --help`: the best of some tries, in ms."""
    return min(_help_ms([TORRES, *command.split()]) for _ in range(tries))


def start_per_pip(command: str) -> float:
    """Return the CPU time of `torres COMMAND --help` as a multiple of pip's.

    Both programs start once, one after the other.
    """
    return _help_ms([TORRES, *command.split()]) / _help_ms(PIP)


def _help_ms(program: Sequence[str | Path]) -> float:
    """Return the CPU time in ms in which a program prints its help."""
    before = os.times()
    subprocess.run([*program, "--help"], check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    user = after.children_user - before.children_user
    return 1e3 * (user + after.children_system - before.children_system)


def measure() -> list[tuple[str, float | None, str, bool]]:
    """Measure every command; return rows for the table of all benchmarks."""
    rows: list[tuple[str, float | None, str, bool]] = []
    for command in MEASURED:
        ratio = min(start_per_pip(command) for _ in range(TRIES))
        name = f"torres {command}".strip()
        what = f"times the CPU time of pip --help: {name} --help"
        what += f" ({start_cpu_ms(command):.0f} ms)"
        target = f"<= {MAX_START_PER_PIP}"
        rows.append((what, ratio, target, ratio <= MAX_START_PER_PIP))
    return rows
