"""A host is a real process with real bots. It is killed, and the next one goes on."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection

from engine.replay import verify
from ladder.bots.house_bots import ensure_house_bots
from ladder.bots.models import Bot
from ladder.extras.practice import selectors
from ladder.extras.practice.host import BOT_NICENESS
from ladder.extras.practice.models import PracticeStatus
from tests.practice import factories
from tests.practice.test_practice_games import document_of

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.sandbox]


def environment() -> dict[str, str]:
    """Return the environment of a host that uses the database of this test."""
    db = connection.settings_dict
    url = f"sqlite:///{db['NAME']}"
    if connection.vendor != "sqlite":
        address = f"{db['HOST'] or 'localhost'}:{db['PORT'] or 5432}"
        url = f"postgres://{db['USER']}:{db['PASSWORD']}@{address}/{db['NAME']}"
    return os.environ | {
        "DATABASE_URL": url,
        "DB_POOL": "4",
        "PYTHONPATH": str(settings.BASE_DIR),
        "TORRES_DATA": str(settings.DATA_DIR),
        "TORRES_LEASE_SECONDS": "2",
    }


@contextmanager
def host_process() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        [sys.executable, str(settings.BASE_DIR / "manage.py"), "practice"],
        env=environment(),
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def nicenesses(parent: int) -> set[int]:
    """Return the niceness of each child of a process."""
    found = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # It has ended.
            fields = stat.read_text().rpartition(")")[2].split()
            if int(fields[1]) == parent:
                found.add(int(fields[16]))
    return found


@pytest.mark.slow
def test_a_killed_host_loses_no_game() -> None:
    ensure_house_bots()
    house = Bot.objects.get(slug="house-random").submissions.get()
    game = factories.begin(house)
    with host_process():
        factories.answer(game, answers=4)
        row = factories.until(lambda: factories.asked(game))
    before = list(game.moves.values_list("actions", flat=True))

    with host_process() as second:
        factories.until(
            lambda: factories.fresh(game).fence == 2 and factories.asked(game)
        )
        assert factories.fresh(game).ply == row.ply
        lower = min(os.nice(0) + BOT_NICENESS, 19)
        factories.until(lambda: lower in nicenesses(second.pid))
        ended = factories.answer(game)
        assert selectors.host_is_alive()
        second.send_signal(signal.SIGTERM)
        assert second.wait(factories.WAIT_S) == 0

    assert ended.status == PracticeStatus.FINISHED, ended.note
    assert not selectors.host_is_alive()
    document = document_of(game)
    assert [move["actions"] for move in document["moves"]][: len(before)] == before
    verify(document)
