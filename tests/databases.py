"""Migrated databases that tests copy: to migrate a new one takes 6 to 10 s of CPU.

They are kept in the cache of pytest, for SQLite and for PostgreSQL, until a migration
or the version of Django or PostgreSQL changes. This module needs no settings, because
benchmarks make their servers before they set up Django.
"""

import fcntl
import hashlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

from ladder.ops.chaos.servers import Postgres
from ladder.ops.programs import find_program

ROOT = Path(__file__).parents[1]
MANAGE_PY = [sys.executable, str(ROOT / "manage.py")]
TEMPLATES = ROOT / ".pytest_cache" / "databases"
SERVERS = ("DATABASE_URL", "BROKER_URL")


def copy_sqlite(database: Path) -> None:
    """Copy a migrated database to a new file."""
    shutil.copyfile(_template("sqlite", _make_sqlite), database)
    database.chmod(0o600)


def create_postgres(server: Postgres) -> None:
    """Create the cluster of a server with a migrated database, and start it."""
    programs = subprocess.check_output([find_program("postgres"), "--version"])
    kind = f"postgres-{programs.split()[2].decode()}"
    template = _template(kind, _make_postgres)
    server._own(server.folder)
    # The files belong to the user of the server. Only `cp` keeps that.
    subprocess.run(["cp", "-a", template, server.folder / "data"], check=True)
    server.start()


def without_servers() -> dict[str, str]:
    """Return the environment without the addresses of servers."""
    return {name: value for name, value in os.environ.items() if name not in SERVERS}


def _template(kind: str, make: Callable[[Path], Path]) -> Path:
    """Return the template of these migrations; the first caller makes it."""
    template = TEMPLATES / f"{kind}-{_digest()}"
    TEMPLATES.mkdir(parents=True, exist_ok=True)
    with (TEMPLATES / f"{kind}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if template.exists():
            return template
        for old in TEMPLATES.glob(f"{kind}-*"):
            shutil.rmtree(old) if old.is_dir() else old.unlink()
        # Not in the cache, which the user postgres may not be able to enter.
        with TemporaryDirectory(prefix="torres-test-") as name:
            folder = Path(name)
            folder.chmod(0o755)
            made = make(folder)
            # The copy may be interrupted, and a template must be whole.
            part = TEMPLATES / f"{kind}-part"
            subprocess.run(["cp", "-a", made, part], check=True)
            part.rename(template)
    return template


def _make_sqlite(folder: Path) -> Path:
    _migrate({"TORRES_DATA": str(folder)})
    return folder / "ladder.db"


def _make_postgres(folder: Path) -> Path:
    server = Postgres(folder / "cluster", "127.0.0.1", ())
    server.folder.mkdir()
    server.create()
    try:
        secret = {"SECRET_KEY": "k" * 50}
        data = {"TORRES_DATA": str(folder / "data"), "DATABASE_URL": server.url}
        _migrate(data | secret)
        # PostgreSQL ends in order. After a kill, each copy would have to recover.
        os.kill(server.pid, signal.SIGINT)
        os.waitid(os.P_PID, server.pid, os.WEXITED | os.WNOWAIT)
    finally:
        server.close()
    return server.folder / "data"


def _migrate(variables: dict[str, str]) -> None:
    migrate = [*MANAGE_PY, "migrate", "-v0", "--skip-checks"]
    subprocess.run(migrate, env=without_servers() | variables, check=True)


def _digest() -> str:
    """Return a number that changes with each migration and with Django."""
    digest = hashlib.sha256(version("django").encode())
    for file in sorted(ROOT.glob("ladder/**/migrations/*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]
