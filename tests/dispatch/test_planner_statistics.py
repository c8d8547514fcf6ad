"""The dispatcher lets SQLite count its rows, so that it reads only open pairings."""

import time
from threading import Event
from unittest.mock import Mock

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ladder.common import planner_statistics
from ladder.dispatch.dispatcher import Dispatcher
from ladder.ratings import rater
from ladder.ratings.models import Season
from tests.fill.command import Command

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("data_dir"),
]
IS_SQLITE = connection.vendor == "sqlite"


class OneTick(Event):
    """Ends the dispatcher when it pauses after its first tick."""

    def wait(self, timeout: float | None = None) -> bool:
        self.set()
        return True


def plan_of_unrated() -> str:
    rows = rater.unrated(Season.objects.get().pk).order_by("finished_at", "pk")
    return rows.explain()


@pytest.mark.skipif(not IS_SQLITE, reason="PostgreSQL counts by itself")
def test_a_tick_makes_the_rater_read_only_open_pairings() -> None:
    call_command(Command(), bots=60, games=600, busiest=100, tournaments=0, seed="test")
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM sqlite_stat1")
    connection.close()  # the planner of a connection keeps what it read when it opened
    before = plan_of_unrated()

    Dispatcher().run(OneTick())  # ends the commands that the tick started

    assert "pairing_open" not in before
    assert "pairing_open" in plan_of_unrated()


def test_only_sqlite_is_told_to_count() -> None:
    with CaptureQueriesContext(connection) as asked:
        planner_statistics.refresh()

    assert [query["sql"] for query in asked] == (["ANALYZE"] if IS_SQLITE else [])


def test_slow_counting_is_repeated_rarely(monkeypatch) -> None:
    """Counting that takes 2 s is repeated after 2,000 s, a thousand times as long."""
    clock = Mock(return_value=0.0)
    counted_at = []

    def count() -> None:
        counted_at.append(clock())
        clock.return_value += 2

    monkeypatch.setattr(time, "monotonic", clock)
    monkeypatch.setattr(planner_statistics, "refresh", count)
    statistics = planner_statistics.PlannerStatistics()
    for now in (0.0, 60.0, 2001.0, 2003.0, 2060.0):
        clock.return_value = now
        statistics.keep_fresh()

    assert counted_at == [0.0, 2003.0]
