"""Run the tests of games, ratings and backups again, on a private PostgreSQL."""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg
import pytest
from django.conf import settings

from tests import servers

pytestmark = [pytest.mark.servers, pytest.mark.usefixtures("_servers")]
TESTS = ["tests/games", "tests/ratings", "tests/practice", "tests/ops/test_backup.py"]
TESTS += ["tests/web/test_fuzz.py", "tests/ops/test_command_fuzz.py"]
TESTS += ["tests/accounts", "tests/events", "tests/webhooks", "tests/public_log"]
# The heart of the service: claims, results, ratings and the ledger; and names.
# `make deep` runs all of TESTS.
HEART = [
    "tests/accounts/test_races.py",
    "tests/events/test_stream.py",
    "tests/games/test_attempts.py",
    "tests/games/test_kills.py",
    "tests/games/test_list_plans.py",
    "tests/ratings/test_corrections.py",
    "tests/ratings/test_rater.py",
    "tests/ratings/test_season_ends.py",
    "tests/ops/test_backup.py",
]
TIMEOUT_S = 1200
# Tests of these parts use no database, or only queries that other tests use, too.
WITHOUT_DATABASE = ["replays", "pairing", "trueskill", "sprt", "simulation", "finals"]
# The excluded tests take long for queries that other tests use, too.
SELECTED = "not ten_thousand and not challenge and not is_held_back"


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.skipif(
    os.environ.get("DATABASE_URL", "").startswith("postgres"),
    reason="they run on PostgreSQL already",
)
@pytest.mark.parametrize(
    "tests", [HEART, pytest.param(TESTS, marks=pytest.mark.deep)], ids=["heart", "all"]
)
def test_games_ratings_and_backups_work_on_postgresql_too(tests):
    # Not in pytest's own folder, which the user postgres cannot enter.
    with TemporaryDirectory(prefix="torres-test-") as name:
        Path(name).chmod(0o755)
        server = servers.postgres(Path(name) / "cluster", migrated=True)
        result = run_tests(server, tests)

    print(result.stdout)
    assert result.returncode == 0, result.stdout[-8000:]


def run_tests(
    server: servers.Postgres, tests: list[str]
) -> subprocess.CompletedProcess[str]:
    """Run tests on a server, in a copy of its migrated database."""
    with psycopg.connect(server.url, autocommit=True) as session:
        session.execute("CREATE DATABASE test_torres TEMPLATE torres")
    pytest = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    pytest += ["--reuse-db"]
    ignored = [f"--ignore-glob=*/test_{part}.py" for part in WITHOUT_DATABASE]
    marks = "not slow and not soak" + (" and not deep" if tests == HEART else "")
    selection = ["-k", SELECTED, "-m", marks, "--durations=10"]
    try:
        return subprocess.run(
            [*pytest, *ignored, *selection, *tests],
            env=os.environ | {"DATABASE_URL": server.url},
            cwd=settings.BASE_DIR,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
    finally:
        server.close()
