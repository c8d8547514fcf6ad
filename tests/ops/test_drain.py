"""Two real workers, one of which is drained: it must not take the other's hints."""

import threading

import pytest

from tests.soak.factories import Fleet, fleet, is_sound, wait_for_work

pytestmark = pytest.mark.usefixtures("_servers")
SAMPLE_S = 5


def claims(service: Fleet, worker: int) -> int:
    """Return how many games a worker claims within SAMPLE_S."""
    count = (
        "SELECT COUNT(*) FROM games_attempt a JOIN games_worker w"
        " ON w.id = a.worker_id WHERE w.name LIKE %s"
    )
    name = f"%/host-{worker}#%"
    before = service.ask(count, name)[0][0]
    threading.Event().wait(SAMPLE_S)
    return service.ask(count, name)[0][0] - before


def act(service: Fleet, act: str, worker: int) -> None:
    query = "SELECT name FROM games_worker WHERE name LIKE %s AND gone_at IS NULL"
    (name,) = service.ask(query, f"%/host-{worker}#%")[0]
    service.manage("operator", act, name, "--why=a test")


@pytest.mark.slow
def test_a_drained_worker_takes_no_hints_from_the_others():
    with fleet(lease_s=30) as service:
        service.open([(), ()])
        wait_for_work(service, 90)
        before = claims(service, 1)
        act(service, "drain", 0)
        service.until(lambda: not service.busy(0), 30)

        drained = claims(service, 0)
        after = claims(service, 1)
        act(service, "undrain", 0)
        back_s = wait_for_work(service, 30)
        report = service.settle()

    print(f"{before} claims before, {after} after; back after {back_s:.0f} s")
    assert drained == 0
    assert after > 0.7 * before
    assert is_sound(report)
