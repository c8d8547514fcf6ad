"""How soon a real service notices a dead or an unresponsive worker."""

import random
import signal
import threading

import pytest

from tests.soak.factories import Fleet, fleet, wait_for_work

pytestmark = pytest.mark.usefixtures("_servers")
TRIES = 20
AGAIN_S = 45


def outage(service: Fleet, rng: random.Random) -> None:
    """Let the broker crash, or hang so long that everybody gives it up."""
    span = rng.uniform(1, 15)
    if rng.random() < 0.5:
        service.redis.kill()
        threading.Event().wait(span)
        service.redis.start()
    else:
        service.redis.send(signal.SIGSTOP)
        threading.Event().wait(span + 10)
        service.redis.send(signal.SIGCONT)


def wait_for_games_of(service: Fleet, host: int) -> float:
    """Kill a worker that plays, and wait until its games run elsewhere or again."""
    service.until(lambda: bool(service.busy(host)), 60)
    games = service.busy(host)
    service.workers[host].send(signal.SIGKILL)
    return service.until(lambda: service.again(games), AGAIN_S)


def test_after_a_broker_outage_every_worker_is_back_at_work():
    rng, waits = random.Random(6), []
    with fleet() as service:
        service.open([(), ()])
        wait_for_work(service, 90)
        for _ in range(TRIES):
            outage(service, rng)
            waits.append(wait_for_work(service))
            print(f"back at work after {waits[-1]:.0f} s", flush=True)
        held = service.settle()

    assert len(waits) == TRIES
    assert held.count(": yes") == 8


def test_a_deaf_worker_is_replaced_and_back_at_work():
    with fleet() as service:
        service.open([()])
        wait_for_work(service, 90)
        for _ in range(3):
            pid = service.make_unresponsive(0)
            service.until(lambda: not service.busy(), 60)
            wait = wait_for_work(service)
            print(f"unresponsive: back at work after {wait:.0f} s", flush=True)
            assert service.workers[0].child.pid != pid
        held = service.settle()

    assert held.count(": yes") == 8


def test_the_games_of_a_dead_worker_run_again():
    """Each worker is killed once: a game that is lost three times would be dead."""
    with fleet() as service:
        service.open([(), ()])
        wait_for_work(service, 90)
        for host in range(2):
            wait = wait_for_games_of(service, host)
            print(f"games of a dead worker ran again after {wait:.0f} s", flush=True)
        held = service.settle()

    assert held.count(": yes") == 8
