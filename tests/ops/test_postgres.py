"""The same code on PostgreSQL: its tests run again, on a server of their own."""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from django.conf import settings

from ladder.ops import servers

pytestmark = [pytest.mark.servers, pytest.mark.usefixtures("_servers")]
AGAIN = ["tests/games", "tests/ratings", "tests/ops/test_safe.py"]


@pytest.mark.skipif(
    os.environ.get("DATABASE_URL", "").startswith("postgres"),
    reason="they run on PostgreSQL already",
)
def test_games_ratings_and_backups_work_on_postgresql_too():
    # Not in pytest's own folder: that is closed to others, the user postgres too.
    with TemporaryDirectory(prefix="torres-test-") as name:
        Path(name).chmod(0o755)
        done = again(servers.postgres(Path(name) / "cluster"))

    assert done.returncode == 0, done.stdout[-8000:]


def again(server: servers.Postgres) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *AGAIN],
            env=os.environ | {"DATABASE_URL": server.url},
            cwd=settings.BASE_DIR,
            capture_output=True,
            text=True,
            timeout=540,
            check=False,
        )
    finally:
        server.close()
