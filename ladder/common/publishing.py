"""Send messages to the broker without waiting for a broker that is away.

A message is only a hint, and the dispatcher sends a lost one again. So neither a
visitor's request nor the dispatcher's tick may wait for seconds: one try, with short
timeouts. Celery's own connections try again for 6 s, which is right for a worker.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeVar

from celery import Celery
from django.conf import settings
from kombu import Connection, Producer
from kombu.exceptions import InconsistencyError, OperationalError
from kombu.pools import producers

T = TypeVar("T")

# The exceptions of Celery and kombu if the broker is down or has lost its queues.
BROKER_ERRORS = (OperationalError, InconsistencyError)

_TIMEOUT_S = 1
_ONE_QUICK_TRY = {
    "max_retries": 0,
    "socket_timeout": _TIMEOUT_S,
    "socket_connect_timeout": _TIMEOUT_S,
}


@contextmanager
def producer(app: Celery) -> Iterator[Producer]:
    """Lend a producer for messages. It raises one of BROKER_ERRORS within a second."""
    with producers[_connection(app)].acquire(block=True) as lent:
        yield lent


def ping() -> None:
    """Ask the broker for an answer. Raises one of BROKER_ERRORS within seconds."""
    _ask_redis(lambda client: client.ping())


def redis_info() -> Mapping[str, Any]:
    """Return what Redis says about itself; nothing of the broker in memory.

    Raises one of BROKER_ERRORS within seconds.
    """
    info: Mapping[str, Any] | None = _ask_redis(lambda client: client.info())
    return info or {}


def _ask_redis(ask: Callable[[Any], T]) -> T | None:
    options = {**getattr(settings, "CELERY_BROKER_TRANSPORT_OPTIONS", {})}
    url = settings.CELERY_BROKER_URL
    with Connection(url, transport_options=options | _ONE_QUICK_TRY) as fresh:
        try:
            # Redis has a client; the broker in memory has none, and is always there.
            client = getattr(fresh.channel(), "client", None)
            return None if client is None else ask(client)
        except (*fresh.connection_errors, *fresh.channel_errors) as error:
            raise OperationalError(str(error)) from error


@cache
def _connection(app: Celery) -> Connection:
    options = {**app.conf.broker_transport_options, **_ONE_QUICK_TRY}
    return app.connection_for_write(transport_options=options)
