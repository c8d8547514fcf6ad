"""A ladder and a tournament of 32, while parts of the service are away for a minute.

A worker host, the dispatcher and the database are stopped in turn. Within 30 s of each
return the service must play as many games as before.
"""

import signal
import threading
import time
from collections.abc import Callable
from datetime import datetime, timedelta

import pytest

from tests.soak.factories import Fleet, fleet, is_sound, wait_for_work

pytestmark = pytest.mark.usefixtures("_servers")
BOTS = 32
AWAY_S = 60
BACK_S = 30
WINDOW_S = 90  # in which games are counted
# The share of the old throughput that counts as the same. One of the four slots that
# does not come back costs a quarter. A window has a hundred games or more, whose number
# varies by less than a tenth: slots are always busy, and games are alike in length.
SAME = 0.9


def start_tournament(service: Fleet) -> None:
    """Let all bots play a round robin, which has more fixtures than are played here."""
    service.shell(
        "from ladder.bots.models import Bot",
        "from ladder.tournaments import services",
        "from tests.tournaments.factories import tournament",
        "cup = tournament({'format': 'round_robin'})",
        "[services.enter(cup, bot) for bot in Bot.objects.all()]",
        "services.start(cup)",
    )


def finished(service: Fleet, since: datetime, until: datetime) -> int:
    query = "SELECT COUNT(*) FROM games_game WHERE finished_at BETWEEN %s AND %s"
    return service.ask(query, since, until)[0][0]


def seconds_until_same(service: Fleet, returned_at: datetime, before: float) -> float:
    """Return after how many seconds a window has the throughput `before`."""
    enough = SAME * before * WINDOW_S
    for delay_s in range(BACK_S + 1):
        begin = returned_at + timedelta(seconds=delay_s)
        games = finished(service, begin, begin + timedelta(seconds=WINDOW_S))
        if games >= enough:
            return delay_s
    return float("inf")


def away(
    service: Fleet, name: str, stop: Callable[[], None], start: Callable[[], None]
) -> float:
    """Stop a part for a minute; return the seconds until the old throughput."""
    began = service.now()
    threading.Event().wait(WINDOW_S)
    before = finished(service, began, service.now()) / WINDOW_S
    stopped = time.monotonic()
    stop()
    threading.Event().wait(AWAY_S)
    start()
    returned_at = service.now()
    away_s = time.monotonic() - stopped
    threading.Event().wait(BACK_S + WINDOW_S)
    back_s = seconds_until_same(service, returned_at, before)
    end = returned_at + timedelta(seconds=BACK_S + WINDOW_S)
    after = finished(service, returned_at + timedelta(seconds=BACK_S), end) / WINDOW_S
    print(
        f"{name}: {before:.2f} games a second before, away for {away_s:.0f} s,"
        f" {after:.2f} after {BACK_S} s; back after {back_s:.0f} s",
        flush=True,
    )
    return back_s


def test_after_each_outage_the_service_is_back_within_30_seconds():
    with fleet() as service:
        service.open([(), ()], bots=BOTS)
        start_tournament(service)
        wait_for_work(service, 120)
        worker, dispatcher = service.workers[0], service.scheduler
        parts = {
            "worker host": (worker.close, worker.ensure_running),
            "dispatcher": (dispatcher.close, dispatcher.ensure_running),
            "database": (service.postgres.kill, service.postgres.restart),
            "frozen dispatcher": (
                lambda: dispatcher.send(signal.SIGSTOP),
                lambda: dispatcher.send(signal.SIGCONT),
            ),
        }
        waits = {name: away(service, name, *acts) for name, acts in parts.items()}
        kinds = service.ask(
            "SELECT DISTINCT m.kind FROM games_match m JOIN games_game g"
            " ON g.match_id = m.id WHERE g.status = 'finished'"
        )
        service.shell(
            "from ladder.tournaments import services",
            "from ladder.tournaments.models import Tournament",
            "services.cancel(Tournament.objects.get())",
        )
        report = service.settle()

    assert {kind for (kind,) in kinds} == {"ladder", "tournament"}
    assert is_sound(report)
    assert max(waits.values()) <= BACK_S, waits
