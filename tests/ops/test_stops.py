"""A service that is stopped and started again and again loses and fails nothing.

The bots are real, and so is the sandbox. `manage.py up` is stopped by SIGTERM while
games run, as a supervisor stops it before an upgrade.
"""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest
from django.conf import settings

from tests.ops.test_up import data, sound_totals

__all__ = ["data"]

MANAGE_PY = [sys.executable, str(settings.BASE_DIR / "manage.py")]
STOPS = 4
GRACE_S = 0.1  # shorter than most games, so that games are released
START_TIMEOUT_S = 60
STOP_TIMEOUT_S = 60
POLL_S = 0.01


@dataclass(frozen=True)
class StartTimes:
    """Seconds from the start of the process to the steps on the way to a game."""

    address: float
    """The service printed its address: it is migrated, and its parts are started."""
    worker: float
    """The worker has described its host: it may claim games."""
    claim: float
    """The worker has claimed its first game."""

    def __str__(self) -> str:
        return (
            f"address {self.address:.2f} s, worker {self.worker:.2f} s,"
            f" first claim {self.claim:.2f} s"
        )


def query(data: dict[str, str], sql: str) -> list[tuple]:
    database = Path(data["TORRES_DATA"]) / "ladder.db"
    with closing(sqlite3.connect(database, timeout=30)) as session:
        return session.execute(sql).fetchall()


def last_id(data: dict[str, str], table: str) -> int:
    return query(data, f"SELECT coalesce(max(id), 0) FROM {table}")[0][0]


class StoppableService:
    """`manage.py up` on one data folder, in one process after the other."""

    def __init__(self, data: dict[str, str]) -> None:
        self.data = data
        self.child: subprocess.Popen[bytes] | None = None
        folder = Path(data["TORRES_DATA"]).parent
        self.output = folder / "service.out"
        self.log = folder / "service.log"

    def prepare(self) -> None:
        """Start and stop once, so that there are a database and a first game."""
        self._spawn()
        self._seconds_until(self._has_new("games_attempt", 0), time.monotonic())
        self.stop()

    def start(self) -> StartTimes:
        """Start it, and return when it was ready for games."""
        worker = self._has_new("games_worker", last_id(self.data, "games_worker"))
        claim = self._has_new("games_attempt", last_id(self.data, "games_attempt"))
        started_at = time.monotonic()
        self._spawn()
        return StartTimes(
            address=self._seconds_until(self._has_address, started_at),
            worker=self._seconds_until(worker, started_at),
            claim=self._seconds_until(claim, started_at),
        )

    def _spawn(self) -> None:
        with self.output.open("w") as output, self.log.open("a") as log:
            self.child = subprocess.Popen(
                [*MANAGE_PY, "up", "--port", "0"],
                env=self.data,
                stdout=output,
                stderr=log,
            )

    def _has_address(self) -> bool:
        return "LADDER=" in self.output.read_text()

    def _has_new(self, table: str, before: int) -> Callable[[], bool]:
        def has_new() -> bool:
            try:
                return last_id(self.data, table) > before
            except sqlite3.OperationalError:
                return False  # it is migrating the database

        return has_new

    def _seconds_until(self, condition: Callable[[], bool], started_at: float) -> float:
        pause = threading.Event()
        while not condition():
            assert self.child is not None
            assert self.child.poll() is None, self.log.read_text()[-3000:]
            seconds = time.monotonic() - started_at
            assert seconds < START_TIMEOUT_S, self.log.read_text()[-3000:]
            pause.wait(POLL_S)
        return time.monotonic() - started_at

    def stop(self) -> float:
        """Stop it with SIGTERM; return how many seconds that took."""
        assert self.child is not None
        asked_at = time.monotonic()
        self.child.send_signal(signal.SIGTERM)
        code = self.child.wait(STOP_TIMEOUT_S)
        assert code == 0, self.log.read_text()[-3000:]
        return time.monotonic() - asked_at

    def close(self) -> None:
        if self.child is not None and self.child.poll() is None:
            self.child.kill()
            self.child.wait()


def stop_and_start(data: dict[str, str], stops: int) -> list[StartTimes]:
    """Stop a service under load, start it again, and look at all attempts.

    Return the times of all starts.
    """
    data["TORRES_GRACE_SECONDS"] = str(GRACE_S)
    service = StoppableService(data)
    rng = random.Random(stops)
    starts = []
    try:
        service.prepare()
        for number in range(stops):
            starts.append(service.start())
            threading.Event().wait(rng.uniform(0.0, 2.0))
            stop_s = service.stop()
            print(f"start {number}: {starts[-1]}; stop {stop_s:.2f} s")
    finally:
        service.close()

    outcomes = dict(
        query(data, "SELECT outcome, count(*) FROM games_attempt GROUP BY outcome")
    )
    faults = query(
        data, "SELECT game_id, fault, fault_detail FROM games_seat WHERE fault != ''"
    )
    failed = query(data, "SELECT * FROM games_attempt WHERE outcome = 'failed'")
    print(outcomes)
    assert failed == []
    assert faults == []
    assert outcomes["released"] >= stops // 2
    assert "open" not in outcomes
    sound_totals(data)
    return starts


@pytest.mark.deep
@pytest.mark.sandbox
@pytest.mark.skipif(os.geteuid() != 0, reason="level full needs root here")
def test_a_few_stops_under_load_harm_nothing(data):
    # `make soak` bounds the times, on a machine that does nothing else.
    assert len(stop_and_start(data, STOPS)) == STOPS
