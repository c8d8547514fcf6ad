"""Two dispatchers on one database, and a dispatcher that is supervised."""

import os
import subprocess
import sys
import time
from pathlib import Path
from threading import Event

import psycopg
import pytest
from django.conf import settings
from structlog.testing import capture_logs

from ladder.dispatch.dispatcher import Dispatcher
from ladder.ops import embedded
from ladder.ops.chaos.monkey import LOCK_HOLDERS
from tests import servers

MANAGE = str(settings.BASE_DIR / "manage.py")
TIMEOUT_S = 120.0


def holders(url: str) -> set[int]:
    """Return the server processes that hold the dispatcher's lock."""
    with psycopg.connect(url) as session:
        return {pid for (pid,) in session.execute(LOCK_HOLDERS).fetchall()}


def wait_for_holder(url: str, *, other_than: set[int]) -> set[int]:
    deadline = time.monotonic() + TIMEOUT_S
    while time.monotonic() < deadline:
        now = holders(url)
        if now and not now & other_than:
            return now
        Event().wait(0.2)
    raise AssertionError("no dispatcher holds the lock")


@pytest.mark.slow
@pytest.mark.servers
def test_a_dispatcher_whose_lock_is_lost_stops_leading(
    server: servers.Postgres, tmp_path: Path
) -> None:
    """Its session ends as in a restart behind a pooler. Both must go on living.

    The dispatcher went on as if it led, and the other one died of its writes.
    """
    env = os.environ | {"DATABASE_URL": server.url, "TORRES_DATA": str(tmp_path)}
    subprocess.run([sys.executable, MANAGE, "prepare"], env=env, check=True)
    with (tmp_path / "log").open("wb") as log:
        command = [sys.executable, MANAGE, "schedule"]
        pair = [subprocess.Popen(command, env=env, stderr=log) for _ in range(2)]
    try:
        holder: set[int] = set()
        for _ in range(3):
            holder = wait_for_holder(server.url, other_than=holder)
            with psycopg.connect(server.url, autocommit=True) as session:
                for pid in holder:
                    session.execute("SELECT pg_terminate_backend(%s)", (pid,))
        wait_for_holder(server.url, other_than=holder)
        assert [process.poll() for process in pair] == [None, None]
        assert "the lock was lost" in (tmp_path / "log").read_text()
    finally:
        for process in pair:
            process.terminate()
            process.wait(30)


def test_a_dispatcher_that_ends_is_started_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In `up` pages went on, but nothing was played any more."""
    runs = []
    second = Event()

    def run(_: Dispatcher, stop: Event) -> None:
        runs.append(1)
        if len(runs) == 1:
            raise RuntimeError("the first one dies")
        second.set()
        stop.wait()

    monkeypatch.setattr(embedded.Dispatcher, "run", run)
    part = embedded.EmbeddedPart("dispatcher", embedded.dispatch)
    with capture_logs() as logged:
        part.start()
        deadline = time.monotonic() + TIMEOUT_S
        while not second.is_set() and time.monotonic() < deadline:
            part.start()  # as `up` does twice a second
            second.wait(0.05)
        part.close()

    assert len(runs) == 2
    events = [entry["event"] for entry in logged]
    assert events == ["the dispatcher ended", "the dispatcher ended and is restarted"]
