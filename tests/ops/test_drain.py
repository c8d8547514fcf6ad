"""Two real workers, one of which is drained: it must not take the other's hints."""

import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

from tests.soak.factories import Fleet, fleet, is_sound, wait_for_work

pytestmark = pytest.mark.usefixtures("_servers")
GAMES = 5
TIMEOUT_S = 180
CELERY = Path(sys.executable).with_name("celery")


def consumers(service: Fleet) -> int:
    """Return how many workers take hints of games from the broker."""
    done = subprocess.run(
        [CELERY, "-A", "ladder.celery", "inspect", "active_queues"],
        cwd=settings.BASE_DIR,
        env=service.environ(),
        capture_output=True,
        text=True,
        check=False,  # it fails as long as no worker answers
    )
    return done.stdout.count("* {'name': 'play'")


def claims(service: Fleet, worker: int) -> int:
    """Return how many games a worker has claimed so far."""
    count = (
        "SELECT COUNT(*) FROM games_attempt a JOIN games_worker w"
        " ON w.id = a.worker_id WHERE w.name LIKE %s"
    )
    return int(service.ask(count, f"%/host-{worker}#%")[0][0])


def act(service: Fleet, act: str, worker: int) -> None:
    query = "SELECT name FROM games_worker WHERE name LIKE %s AND gone_at IS NULL"
    (name,) = service.ask(query, f"%/host-{worker}#%")[0]
    service.manage("operator", act, name, "--why=a test")


@pytest.mark.deep
@pytest.mark.slow
def test_a_drained_worker_takes_no_hints_from_the_others():
    with fleet(lease_s=30) as service:
        service.open([(), ()])
        wait_for_work(service, TIMEOUT_S)
        service.until(lambda: consumers(service) == 2, TIMEOUT_S)
        act(service, "drain", 0)
        service.until(lambda: consumers(service) == 1, TIMEOUT_S)
        service.until(lambda: not service.busy(0), TIMEOUT_S)

        drained, other = (claims(service, worker) for worker in (0, 1))
        service.until(lambda: claims(service, 1) >= other + GAMES, TIMEOUT_S)
        after = claims(service, 0)
        act(service, "undrain", 0)
        service.until(lambda: consumers(service) == 2, TIMEOUT_S)
        wait_for_work(service, TIMEOUT_S)
        report = service.settle()

    assert after == drained
    assert is_sound(report)
