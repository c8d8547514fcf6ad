"""Games go on without the broker, and a worker stops with its last game."""

import signal

import pytest

from tests.soak.factories import Fleet, fleet, is_sound, wait_for_work

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("_servers")]
GAMES = 12
"""More games than hints are on their way when the broker hangs."""
LONG_S = 600.0
"""No wait below measures a time; each of them ends a test that hangs."""


def finished(service: Fleet) -> int:
    rows = service.ask("SELECT count(*) FROM games_game WHERE status = 'finished'")
    return int(str(rows[0][0]))


@pytest.mark.deep
@pytest.mark.parametrize("outage", ["hangs", "is down"])
def test_games_go_on_while_the_broker(outage: str) -> None:
    """Redis hung for 40 s, and 4 games were played instead of 40."""
    with fleet() as service:
        service.open([()])
        wait_for_work(service, LONG_S)
        if outage == "hangs":
            service.redis.send(signal.SIGSTOP)
        else:
            service.redis.kill()
        before = finished(service)

        service.until(lambda: finished(service) >= before + GAMES, LONG_S)

        if outage == "hangs":
            service.redis.send(signal.SIGCONT)
        else:
            service.redis.start()
        assert is_sound(service.settle())


def test_a_worker_that_stops_ends_with_its_last_game() -> None:
    """It waited for the whole grace time, even if its games ended in a second."""
    grace_s = 10 * LONG_S
    with fleet(env={"TORRES_GRACE_SECONDS": str(grace_s)}) as service:
        service.open([()])
        wait_for_work(service, LONG_S)
        worker = service.workers[0].child
        assert worker is not None

        worker.send_signal(signal.SIGTERM)
        worker.wait(LONG_S)

        outcomes = service.ask("SELECT DISTINCT outcome FROM games_attempt")
        assert outcomes == [("finished",)]
