"""The Celery application for workers whose first acknowledgement fails (`celery -A`).

So does one that waits while the broker hangs, until it gives up.
"""

from itertools import count

from kombu.message import Message
from redis.exceptions import TimeoutError as BrokerTimeoutError

from tests.soak.slow_celery import app

__all__ = ["app"]

acknowledge = Message.ack
acknowledgements = count()


def fail_once(message: Message, *, multiple: bool = False) -> None:
    if next(acknowledgements) == 0:
        raise BrokerTimeoutError
    acknowledge(message, multiple=multiple)


Message.ack = fail_once
