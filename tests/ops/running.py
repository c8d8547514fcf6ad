"""A service of a test: `manage.py up` in a process of its own, with real bots."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from django.conf import settings

MANAGE_PY = [sys.executable, str(settings.BASE_DIR / "manage.py")]
STOP_TIMEOUT_S = 120.0


def environment(folder: Path, **variables: str) -> dict[str, str]:
    """Return the environment of a service with SQLite and its own data folder."""
    found = os.environ | {"TORRES_DATA": str(folder / "data")} | variables
    for name in ("DATABASE_URL", "BROKER_URL"):
        found.pop(name, None)
    return found


@contextmanager
def running_service(
    home: dict[str, str], *words: str
) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Run `manage.py up` with these arguments; yield its address and its process."""
    process = subprocess.Popen(
        [*MANAGE_PY, "up", "--port", "0", *words],
        env=home,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield _address(process.stdout), process
    finally:
        process.terminate()
        process.communicate(timeout=STOP_TIMEOUT_S)


def _address(output: IO[str]) -> str:
    line = next(line for line in output if line.startswith("LADDER="))
    return line.strip().removeprefix("LADDER=")
