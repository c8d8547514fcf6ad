"""`manage.py prepare` waits for a backup, and delays no other session."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg
import pytest
from django.conf import settings

from tests import servers
from tests.soak.factories import Fleet, fleet, is_sound, wait_for_work
from tests.soak.test_backups import finished
from tests.soak.test_upgrade import next_version

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("_servers")]
MANAGE = [sys.executable, str(settings.BASE_DIR / "manage.py")]
TABLE = "games_answerbatch"
LATER_TABLE = "comparisons_comparisonblock"
"""pg_dump locks tables in the order in which they were made, games_game before this."""
DUMP_LOCKS = (
    "SELECT granted FROM pg_locks JOIN pg_stat_activity USING (pid)"
    " WHERE application_name = 'pg_dump' AND relation = %s::regclass"
)
GAMES = 20
LONG_S = 600.0
"""No wait below measures a time; each of them ends a test that hangs."""


@pytest.mark.deep
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


@pytest.mark.deep
def test_games_go_on_while_an_upgrade_waits_for_a_backup(tmp_path: Path) -> None:
    with fleet(app="ladder.ops.chaos.celery") as service, ExitStack() as cleanup:
        service.open([()])
        wait_for_work(service, LONG_S)
        words = ("backup", str(tmp_path / "saved"))
        with psycopg.connect(service.postgres.url) as session:
            session.execute(f"LOCK TABLE {LATER_TABLE} IN ACCESS EXCLUSIVE MODE")
            backup = cleanup.enter_context(running(service, settings.BASE_DIR, *words))
            dump = freeze_dump(service, backup)
            cleanup.callback(go_on, dump)
        assert service.ask(DUMP_LOCKS, "games_game"), "pg_dump had ended"
        tree = next_version(service.folder)

        prepare = cleanup.enter_context(running(service, tree, "prepare"))
        assert prepare.stdout is not None
        assert any("A backup, or another prepare" in line for line in prepare.stdout)
        goal = finished(service) + GAMES
        service.until(lambda: finished(service) >= goal, LONG_S)

        go_on(dump)
        assert (backup.wait(LONG_S), prepare.wait(LONG_S)) == (0, 0)
        assert service.ask("SELECT next_version FROM games_game LIMIT 1") == [(None,)]
        assert is_sound(service.settle())


@contextmanager
def running(service: Fleet, tree: Path, *words: str) -> Iterator[subprocess.Popen[str]]:
    """Run `manage.py` of a tree."""
    with subprocess.Popen(
        [sys.executable, str(tree / "manage.py"), *words],
        cwd=tree,
        env=service.environ(PYTHONPATH=str(tree)),
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def freeze_dump(service: Fleet, backup: subprocess.Popen[str]) -> int:
    """Stop pg_dump while it waits for a table, and return its process."""
    service.until(lambda: (False,) in service.ask(DUMP_LOCKS, LATER_TABLE), LONG_S)
    children = Path(f"/proc/{backup.pid}/task/{backup.pid}/children").read_text()
    (dump,) = map(int, children.split())
    os.kill(dump, signal.SIGSTOP)
    return dump


def go_on(process: int) -> None:
    """Let a frozen process go on; without it there is nothing to do."""
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGCONT)
