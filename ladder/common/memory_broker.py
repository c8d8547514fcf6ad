"""The broker of a service that is one process: `memory://`.

kombu's own in-memory broker looks for messages again and again. Fifty times a second
were needed to play quickly, and took 2 % of a processor while there was nothing to do.
This one lets the worker sleep until there is a message.
"""

import time
from collections.abc import Callable
from functools import wraps
from queue import Empty
from threading import Condition
from typing import ParamSpec, TypeVar

from kombu.transport import memory

P = ParamSpec("P")
R = TypeVar("R")

LONGEST_SLEEP_S = 1.0
"""A worker looks at least this often, because it may miss a change."""


class _News:
    """Counts what may let a worker take a message, and wakes those that wait."""

    def __init__(self) -> None:
        self.count = 0
        self._condition = Condition()

    def tell(self) -> None:
        with self._condition:
            self.count += 1
            self._condition.notify_all()

    def wait(self, known: int, timeout_s: float) -> None:
        """Wait for more news than the `known`, or for the timeout."""
        with self._condition:
            self._condition.wait_for(lambda: self.count != known, timeout_s)


_news = _News()


def _telling(method: Callable[P, R]) -> Callable[P, R]:
    """Tell that there is news after each call of the method."""

    @wraps(method)
    def call_and_tell(*args: P.args, **options: P.kwargs) -> R:
        try:
            return method(*args, **options)
        finally:
            _news.tell()

    return call_and_tell


class MemoryChannel(memory.Channel):
    """Tells about new messages, and about consumers that can take one more."""

    _put = _telling(memory.Channel._put)  # noqa: SLF001 -- kombu's hook for transports
    basic_ack = _telling(memory.Channel.basic_ack)
    basic_reject = _telling(memory.Channel.basic_reject)
    basic_qos = _telling(memory.Channel.basic_qos)
    basic_consume = _telling(memory.Channel.basic_consume)


class MemoryTransport(memory.Transport):
    """Sleeps until there is a message to deliver."""

    Channel = MemoryChannel

    def drain_events(
        self, connection: object, timeout: float | None = None, **_: object
    ) -> None:
        """Deliver one message. Raises TimeoutError if there is none in this time."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while not self._deliver_one(timeout):
            sleep_s = LONGEST_SLEEP_S
            if deadline is not None:
                sleep_s = min(sleep_s, deadline - time.monotonic())
            if sleep_s <= 0:
                raise TimeoutError
            _news.wait(self._known_news, sleep_s)

    def _deliver_one(self, timeout: float | None) -> bool:
        self._known_news = _news.count
        if self.cycle is None:  # the connection is closed
            return False
        try:
            self.cycle.get(self._deliver, timeout=timeout)
        except Empty:
            return False
        return True
