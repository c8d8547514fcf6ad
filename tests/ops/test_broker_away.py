"""A broker that is down or hangs costs a visitor and the dispatcher a second."""

import signal
import time
from pathlib import Path

import pytest
from celery import Celery
from django.conf import settings
from kombu.exceptions import OperationalError

from ladder.common import publishing
from ladder.dispatch import dispatcher
from ladder.dispatch.tasks import build_submission
from ladder.games import selectors
from tests import servers
from tests.games import factories

pytestmark = pytest.mark.usefixtures("_servers")


def publish(app: Celery) -> float:
    """Try to send a message; return the seconds until it failed."""
    started = time.monotonic()
    with pytest.raises(OperationalError):
        send(app)
    return time.monotonic() - started


def send(app: Celery) -> None:
    with publishing.producer(app) as producer:
        build_submission.apply_async((1,), producer=producer, retry=False)


def test_a_message_fails_within_a_second_if_the_broker_hangs_or_is_down(tmp_path: Path):
    with servers.redis(tmp_path / "redis") as redis:
        app = Celery(broker=redis.url)
        app.conf.broker_transport_options = {"socket_timeout": 30}
        # A service has sent messages before. The first one imports the transport, which
        # takes 0.2 s of CPU time: seconds if the machine is busy.
        send(app)
        redis.send(signal.SIGSTOP)
        open_connection_s = publish(app)
        new_connection_s = publish(app)
        redis.kill()
        down_s = publish(app)
        redis.start()
        send(app)

    # One second on an idle machine, and more on a busy one. The socket's own timeout is
    # 30 s.
    assert open_connection_s < 15
    assert new_connection_s < 15
    assert down_s < 15


@pytest.mark.django_db
def test_after_a_failure_the_tick_leaves_the_broker_alone(monkeypatch):
    """Each try may take a second, and the tick has other things to do."""
    tries = []

    def away(app):
        tries.append(app)
        raise OperationalError("the broker is away")

    monkeypatch.setattr(publishing, "producer", away)
    game = factories.game()
    factories.worker()
    leader = dispatcher.Dispatcher()
    for _ in range(5):
        assert leader.tick().sent == 0

    assert len(tries) == 1
    assert [due.game for due in selectors.due(10)] == [game.pk]
    assert settings.TORRES_LEASE_SECONDS > dispatcher.BROKER_RETRY_INTERVAL_S
