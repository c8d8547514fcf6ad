"""A real service notices dead and unresponsive workers within seconds."""

import random
import signal
import threading

import pytest

from tests.soak.factories import Fleet, fleet, is_sound, wait_for_work

pytestmark = pytest.mark.usefixtures("_servers")
OUTAGES = 20
CLAIMED_AGAIN_S = 45


def outage(service: Fleet, rng: random.Random) -> None:
    """Let the broker crash, or hang until its clients close their connections."""
    length_s = rng.uniform(1, 15)
    if rng.random() < 0.5:
        service.redis.kill()
        threading.Event().wait(length_s)
        service.redis.start()
    else:
        service.redis.send(signal.SIGSTOP)
        threading.Event().wait(length_s + 10)
        service.redis.send(signal.SIGCONT)


def wait_for_games_of(service: Fleet, host: int) -> float:
    """Kill a worker that plays, and wait until its games are claimed again."""
    service.until(lambda: bool(service.busy(host)), 60)
    games = service.busy(host)
    service.workers[host].send(signal.SIGKILL)
    return service.until(lambda: service.all_claimed_again(games), CLAIMED_AGAIN_S)


def test_after_a_broker_outage_every_worker_is_back_at_work():
    rng = random.Random(6)
    waits = []
    with fleet() as service:
        service.open([(), ()])
        wait_for_work(service, 90)
        for _ in range(OUTAGES):
            outage(service, rng)
            waits.append(wait_for_work(service))
            print(f"back at work after {waits[-1]:.0f} s", flush=True)
        report = service.settle()

    assert len(waits) == OUTAGES
    assert is_sound(report)


def test_an_acknowledgement_that_fails_costs_no_slot():
    """Some fail when the broker hangs, and each once cost its worker a slot."""
    with fleet(app="tests.soak.lossy_celery") as service:
        service.open([()], slots=2)
        service.until(lambda: "Couldn't ack" in service.logs(), 90)
        service.until(lambda: len(service.busy()) == 2, 60)
        report = service.settle()

    assert is_sound(report)


def test_an_unresponsive_worker_is_replaced_and_back_at_work():
    with fleet() as service:
        service.open([()])
        wait_for_work(service, 90)
        for _ in range(3):
            pid = service.make_unresponsive(0)
            service.until(lambda: not service.busy(), 60)
            wait = wait_for_work(service)
            print(f"unresponsive: back at work after {wait:.0f} s", flush=True)
            assert service.workers[0].child.pid != pid
        report = service.settle()

    assert is_sound(report)


def test_the_games_of_a_dead_worker_run_again():
    """Kill each worker only once, because a game that is lost three times is dead."""
    with fleet() as service:
        service.open([(), ()])
        wait_for_work(service, 90)
        for host in range(2):
            wait = wait_for_games_of(service, host)
            print(f"games of a dead worker ran again after {wait:.0f} s", flush=True)
        report = service.settle()

    assert is_sound(report)
