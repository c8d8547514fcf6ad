"""The same code on PostgreSQL: its tests run again, on a server of their own."""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from django.conf import settings

from ladder.ops.chaos import servers

pytestmark = [pytest.mark.servers, pytest.mark.usefixtures("_servers")]
AGAIN = ["tests/games", "tests/ratings", "tests/ops/test_safe.py"]
PURE = ["replays", "pairing", "skill", "simulation", "finals"]
"""Parts whose tests ask no database, or ask it nothing that others do not."""
LONG = "not ten_thousand and not challenge"
"""Many rows, or long set-ups, for the same few statements."""


@pytest.mark.skipif(
    os.environ.get("DATABASE_URL", "").startswith("postgres"),
    reason="they run on PostgreSQL already",
)
def test_games_ratings_and_backups_work_on_postgresql_too():
    # Not in pytest's own folder: that is closed to others, the user postgres too.
    with TemporaryDirectory(prefix="torres-test-") as name:
        Path(name).chmod(0o755)
        done = again(servers.postgres(Path(name) / "cluster"))

    print(done.stdout)
    assert done.returncode == 0, done.stdout[-8000:]


def again(server: servers.Postgres) -> subprocess.CompletedProcess[str]:
    pytest = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    ignored = [f"--ignore-glob=*/test_{part}.py" for part in PURE]
    wanted = ["-k", LONG, "-m", "not slow and not soak", "--durations=10"]
    try:
        return subprocess.run(
            [*pytest, *ignored, *wanted, *AGAIN],
            env=os.environ | {"DATABASE_URL": server.url},
            cwd=settings.BASE_DIR,
            capture_output=True,
            text=True,
            timeout=540,
            check=False,
        )
    finally:
        server.close()
