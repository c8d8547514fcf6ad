"""The service behind PgBouncer, which gives each transaction another session."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

from ladder.ops.programs import ProgramMissing, find_program
from tests import servers
from tests.soak.factories import Fleet, fleet, is_sound
from torres.common.parents import end_with_parent

pytestmark = pytest.mark.usefixtures("_servers")
# Fewer than the connections of the service, so that they are really shared.
SESSIONS = 3
INI = """
[databases]
torres = host={postgres.address} port={postgres.port} user=torres
[pgbouncer]
listen_addr = {address}
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = {sessions}
max_client_conn = 200
ignore_startup_parameters = options
"""


class Pooler(servers.ServerProcess):
    """PgBouncer in front of a PostgreSQL; it refuses to run as root."""

    def __init__(self, folder: Path, postgres: servers.Postgres) -> None:
        folder.mkdir()
        super().__init__(folder, "127.0.0.1", ())
        self.url = f"postgres://torres@{self.address}:{self.port}/torres"
        words = {"postgres": postgres, "sessions": SESSIONS, "port": self.port}
        (folder / "ini").write_text(INI.format(address=self.address, **words))

    def command(self) -> list[str]:
        ini = str(self.folder / "ini")
        return [
            *servers.Postgres.as_unprivileged(),
            *end_with_parent(),
            *("pgbouncer", ini),
        ]

    def accepts_connections(self) -> bool:
        ready = [find_program("pg_isready"), "-q", "-d", self.url]
        return subprocess.run(ready, check=False).returncode == 0


@pytest.fixture
def service() -> Iterator[Fleet]:
    try:
        find_program("pgbouncer")
    except ProgramMissing as why:
        pytest.skip(str(why))
    with fleet(app="ladder.ops.chaos.celery") as service:
        pooler = Pooler(service.folder / "pooler", service.postgres)
        service.env = {"DATABASE_URL": pooler.url}
        with pooler:
            yield service


def test_every_invariant_holds_behind_a_pooler(service: Fleet) -> None:
    service.env["DATABASE_DIRECT_URL"] = service.postgres.url
    service.open([(), ()])
    played = "SELECT 1 FROM games_game WHERE status = 'finished' OFFSET 300 LIMIT 1"
    seconds = service.until(lambda: bool(service.ask(played)), 120)
    print(f"300 games after {seconds:.0f} s", flush=True)

    assert is_sound(service.settle())


def test_a_dispatcher_behind_a_pooler_says_what_to_configure(service: Fleet) -> None:
    service.manage("migrate", "--verbosity", "0")
    done = subprocess.run(
        [sys.executable, str(settings.BASE_DIR / "manage.py"), "schedule"],
        env=service.environ(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == 1
    assert "DATABASE_DIRECT_URL" in done.stderr
