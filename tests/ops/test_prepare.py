"""`manage.py prepare` waits for a backup, and delays no other session."""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg
import pytest
from django.conf import settings

from tests import servers

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("_servers")]
MANAGE = [sys.executable, str(settings.BASE_DIR / "manage.py")]
TABLE = "games_answerbatch"


def test_a_reader_delays_prepare_and_nobody_else() -> None:
    """All claims waited behind a change of a table that waited for a backup."""
    with TemporaryDirectory(prefix="torres-test-") as name:
        Path(name).chmod(0o755)
        server = servers.postgres(Path(name) / "cluster")
        try:
            env = os.environ | {
                "DATABASE_URL": server.url,
                "TORRES_DATA": f"{name}/data",
            }
            _let_prepare_wait(server.url, env)
        finally:
            server.close()


def _let_prepare_wait(url: str, env: dict[str, str]) -> None:
    subprocess.run([*MANAGE, "migrate", "-v0"], env=env, check=True)
    subprocess.run([*MANAGE, "migrate", "-v0", "games", "0002"], env=env, check=True)
    reader = psycopg.connect(url)
    reader.execute("SELECT 1 FROM games_storedanswer")
    prepare = subprocess.Popen(
        [*MANAGE, "prepare"], env=env, stdout=subprocess.PIPE, text=True
    )
    try:
        assert prepare.stdout is not None
        assert any("Waiting until it ends" in line for line in prepare.stdout)
        with psycopg.connect(url) as other:
            other.execute("SET statement_timeout = '60s'")
            other.execute("SELECT 1 FROM games_storedanswer")
        reader.close()
        output, _ = prepare.communicate(timeout=300)
    finally:
        prepare.kill()
        prepare.wait()

    assert prepare.returncode == 0
    assert "Ready" in output
    with psycopg.connect(url) as session:
        session.execute(f"SELECT 1 FROM {TABLE}")
