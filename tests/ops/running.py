"""A service of a test: `manage.py up` in a process of its own, with real bots."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from django.conf import settings

from tests import databases
from tests.databases import MANAGE_PY, without_servers

__all__ = ["MANAGE_PY", "environment", "running_service", "token_of"]
STOP_TIMEOUT_S = 120.0


def environment(
    folder: Path, *, migrated: bool = True, **variables: str
) -> dict[str, str]:
    """Return the environment of a service with SQLite and its own data folder.

    The folder has a migrated database, unless `migrated` is false.
    """
    data = folder / "data"
    if migrated:
        _copy_database(data)
    found = without_servers() | {"TORRES_DATA": str(data)}
    return found | {"PYTHONPATH": str(settings.BASE_DIR)} | variables


def token_of(home: dict[str, str], name: str) -> str:
    """Return a new token of a user of a service, who is created if needed."""
    made = subprocess.run(
        [*MANAGE_PY, "token", name],
        env=home,
        check=True,
        capture_output=True,
        text=True,
    )
    return made.stdout.split()[-1]


def _copy_database(data: Path) -> None:
    data.mkdir(mode=0o711, parents=True, exist_ok=True)
    databases.copy_sqlite(data / "ladder.db")


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
