"""A service of a test: `manage.py up` in a process of its own, with real bots."""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

from django.conf import settings

MANAGE_PY = [sys.executable, str(settings.BASE_DIR / "manage.py")]
STOP_TIMEOUT_S = 120.0
TEMPLATES = settings.BASE_DIR / ".pytest_cache" / "databases"


def environment(
    folder: Path, *, migrated: bool = True, **variables: str
) -> dict[str, str]:
    """Return the environment of a service with SQLite and its own data folder.

    The folder has a migrated database, unless `migrated` is false.
    """
    data = folder / "data"
    if migrated:
        _copy_database(data)
    found = _without_servers() | {"TORRES_DATA": str(data)}
    return found | {"PYTHONPATH": str(settings.BASE_DIR)} | variables


def _without_servers() -> dict[str, str]:
    servers = ("DATABASE_URL", "BROKER_URL")
    return {name: value for name, value in os.environ.items() if name not in servers}


def _copy_database(data: Path) -> None:
    """Copy a migrated database: to migrate a new one takes six seconds of CPU."""
    data.mkdir(mode=0o711, parents=True, exist_ok=True)
    database = data / "ladder.db"
    shutil.copyfile(_template(), database)
    database.chmod(0o600)


def _template() -> Path:
    """Return the migrated database of these migrations; the first caller makes it."""
    template = TEMPLATES / f"{_digest()}.db"
    TEMPLATES.mkdir(parents=True, exist_ok=True)
    with (TEMPLATES / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if template.exists():
            return template
        for old in TEMPLATES.glob("*.db"):
            old.unlink()
        with TemporaryDirectory(dir=TEMPLATES) as folder:
            home = _without_servers() | {"TORRES_DATA": folder}
            subprocess.run([*MANAGE_PY, "migrate", "-v0"], env=home, check=True)
            (Path(folder) / "ladder.db").rename(template)
    return template


def _digest() -> str:
    """Return a number that changes with each migration and with Django."""
    digest = hashlib.sha256(version("django").encode())
    for file in sorted(settings.BASE_DIR.glob("ladder/**/migrations/*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


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
