"""Real dispatchers on one PostgreSQL take over from each other."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any

import psycopg
import pytest
from django.conf import settings

from ladder.service import service_parts
from tests import servers

pytestmark = [pytest.mark.slow, pytest.mark.servers]
MANAGE = [sys.executable, str(settings.BASE_DIR / "manage.py")]
TIMEOUT_S = 120.0


class Cluster:
    """Dispatchers on one database, each with a data folder of its own."""

    def __init__(self, url: str, folder: Path) -> None:
        self._url = url
        self._folder = folder
        self.manage("one", "prepare")

    def folder(self, name: str) -> Path:
        return self._folder / name

    def manage(self, name: str, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*MANAGE, *words],
            env=self._environment(name),
            capture_output=True,
            text=True,
            check=False,
        )

    @contextmanager
    def dispatcher(self, name: str) -> Iterator[subprocess.Popen[bytes]]:
        """Run a dispatcher; kill it at the end."""
        process = subprocess.Popen([*MANAGE, "schedule"], env=self._environment(name))
        try:
            yield process
        finally:
            process.kill()
            process.wait()

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with psycopg.connect(self._url) as session:
            return session.execute(sql.encode(), values).fetchall()

    def reporter(self, part: str) -> int | None:
        """Return the id of the process that reports as this part of the service."""
        sql = "SELECT process FROM moderation_servicepart WHERE name = %s"
        rows = self.rows(sql, [part])
        return int(rows[0][0].rpartition(":")[2]) if rows else None

    def wait_for_leader(self, process: subprocess.Popen[bytes]) -> None:
        wait_until(lambda: self.reporter(service_parts.DISPATCHER) == process.pid)

    def _environment(self, name: str) -> dict[str, str]:
        own = {"DATABASE_URL": self._url, "TORRES_DATA": str(self.folder(name))}
        return os.environ | own


def wait_until(condition: Callable[[], bool]) -> None:
    """Wait for an event that has to come, however slow the machine is."""
    deadline = time.monotonic() + TIMEOUT_S
    while not condition():
        assert time.monotonic() < deadline, "the event did not come"
        Event().wait(0.2)


@pytest.fixture
def cluster(server: servers.Postgres, tmp_path: Path) -> Cluster:
    return Cluster(server.url, tmp_path)


def test_a_log_goes_on_under_its_own_key_only(cluster: Cluster) -> None:
    """A dispatcher with an empty folder made a new key, and signed with it."""
    signed = "SELECT key, checkpoint FROM public_log_loghead WHERE size > 0"
    with cluster.dispatcher("one"):
        wait_until(lambda: bool(cluster.rows(signed)))
    before = cluster.rows(signed)
    with cluster.dispatcher("two") as second:
        without_key = service_parts.WITHOUT_LOG_KEY
        wait_until(lambda: cluster.reporter(without_key) == second.pid)
        for words in (["status"], ["monitor", "--once"]):
            seen = cluster.manage("two", *words)
            assert seen.returncode == 1
            assert "does not have the key of the public log" in (
                seen.stdout + seen.stderr
            )
        checked = cluster.manage("two", "check", "--deploy")
        assert "deployment.I001" in checked.stderr + checked.stdout
        assert cluster.rows(signed) == before
        key = cluster.folder("two") / "log.key"
        assert not key.exists()

        key.parent.mkdir(exist_ok=True)
        key.write_text((cluster.folder("one") / "log.key").read_text())
        cluster.wait_for_leader(second)
        assert cluster.reporter(without_key) is None
        assert cluster.rows("SELECT key FROM public_log_loghead") == [before[0][:1]]


def test_a_standby_takes_over_from_a_leader_that_hangs(cluster: Cluster) -> None:
    """The lock of a frozen leader lived as long as its session: for ever."""
    lease = "SELECT fence, lease_until > now() FROM moderation_dispatcherlease"
    with cluster.dispatcher("one") as first, cluster.dispatcher("one") as second:
        wait_until(lambda: cluster.reporter(service_parts.DISPATCHER) is not None)
        holder = cluster.reporter(service_parts.DISPATCHER)
        leader, standby = (first, second) if holder == first.pid else (second, first)
        ((fence, _),) = cluster.rows(lease)
        leader.send_signal(signal.SIGSTOP)
        cluster.wait_for_leader(standby)
        assert cluster.rows(lease) == [(fence + 1, True)]

        leader.send_signal(signal.SIGCONT)
        standby.terminate()
        assert standby.wait(TIMEOUT_S) == 0
        # The old one had stepped down, so it leads by a new lease.
        cluster.wait_for_leader(leader)
        assert cluster.rows(lease) == [(fence + 2, True)]


def test_a_dispatcher_whose_lease_was_taken_changes_nothing(
    cluster: Cluster,
) -> None:
    code = """
from django.db import transaction
from ladder.common.fixed_query import insert_rows
from ladder.dispatch.leader import leading
from ladder.moderation.models import DispatcherLease, StoppedUnit
from ladder.service.containment import LostLeadership

def orm():
    StoppedUnit.objects.create(kind="part", name="orm")

def raw():
    columns = ("kind", "name", "error", "advice", "traceback")
    insert_rows("moderation_stoppedunit", columns, [("part", "raw", "", "", "")])

def write(how):
    try:
        with transaction.atomic():
            how()
        return "wrote"
    except LostLeadership:
        return "refused"

with leading() as leadership:
    print(write(orm), write(raw), leadership.is_held())
    StoppedUnit.objects.all().delete()
    DispatcherLease.objects.update(fence=99)
    leadership._renewed_at = 0.0
    print(write(orm), write(raw), leadership.is_held())
print(StoppedUnit.objects.count())
"""
    done = cluster.manage("one", "shell", "-v0", "--no-imports", "-c", code)
    assert done.stdout.splitlines() == [
        "wrote wrote True",
        "refused refused False",
        "0",
    ], done.stderr


def test_a_transaction_of_raw_statements_is_checked_once(cluster: Cluster) -> None:
    """Each of them cost another statement, so that the leader could look."""
    code = """
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from ladder.common.fixed_query import fetch_all
from ladder.dispatch.leader import leading

with leading(), CaptureQueriesContext(connection) as seen, transaction.atomic():
    fetch_all("SELECT 2", [])
    fetch_all("SELECT 3", [])
print([query["sql"].split(" FROM ")[0] for query in seen if "SELECT" in query["sql"]])
"""
    done = cluster.manage("one", "shell", "-v0", "--no-imports", "-c", code)
    look = "SELECT set_config('idle_in_transaction_session_timeout', '5s', TRUE)"
    assert done.stdout.strip() == str([look]), done.stderr
