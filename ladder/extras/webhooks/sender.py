"""The process that sends deliveries: many at once, none of them held up by another.

The database is read and written in one thread, and another thread runs the requests.
The dispatcher starts this process if there is something to send (`jobs`). It may
be killed at any moment, and a second one does no harm.
"""

import asyncio
import os
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from datetime import datetime
from random import Random

import structlog
from django.db import Error, connection
from django.utils import timezone

from ladder.extras.webhooks import deliveries
from ladder.extras.webhooks.fan_out import fan_out
from ladder.extras.webhooks.models import WebhookDelivery
from ladder.extras.webhooks.transport import TIMEOUT_S, SendResult, send

AT_ONCE = 64
STEP_S = 0.25
# After this time without anything to send the process ends.
IDLE_S = 60.0
PAUSE_AFTER_ERROR_S = 2.0

Clock = Callable[[], datetime]
log = structlog.get_logger()


class Sender:
    """Sends the deliveries whose time has come. `clock` and `rng` decide about pauses.

    `timeout_s` is the time that a receiver has to answer.
    """

    def __init__(
        self,
        clock: Clock = timezone.now,
        rng: Random | None = None,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        self._timeout_s = timeout_s
        self._clock = clock
        self._rng = rng or Random()  # noqa: S311 -- not for secrets
        self._running: dict[Future[SendResult], WebhookDelivery] = {}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="webhook-requests", daemon=True
        )
        self._thread.start()

    def run(self, stop: threading.Event) -> None:
        """Send until `stop` is set, nothing was sent for a while, or we are alone."""
        parent = os.getppid()
        busy_at = time.monotonic()
        while not stop.is_set() and os.getppid() == parent:
            try:
                if self.step():
                    busy_at = time.monotonic()
            except Error as error:
                log.warning("cannot send webhooks", error=str(error))
                connection.close()
                stop.wait(PAUSE_AFTER_ERROR_S)
            if time.monotonic() - busy_at > IDLE_S:
                return
            if not self._running:
                connection.close_if_unusable_or_obsolete()
                stop.wait(STEP_S)

    def step(self) -> bool:
        """Do what there is to do now; return False if there was nothing.

        1. Turn new events into deliveries.
        2. Begin as many tries as may run at once.
        3. Wait a moment for a try to end, and write down the results.
        """
        now = self._clock()
        added = fan_out(now)
        began = self._begin(now)
        done = wait(self._running, STEP_S, FIRST_COMPLETED).done
        for future in done:
            self._end(future)
        return bool(added or began or done or self._running)

    def drain(self) -> None:
        """Send everything that may be sent now, and wait until all tries have ended."""
        while self.step() or self._running:
            pass

    def close(self) -> None:
        """Give up the tries that run. The next sender tries them again."""
        asyncio.run_coroutine_threadsafe(_cancel_others(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _begin(self, now: datetime) -> int:
        free = AT_ONCE - len(self._running)
        busy = Counter(delivery.webhook_id for delivery in self._running.values())
        began = 0
        for delivery in deliveries.due(now, free, busy) if free else ():
            if not deliveries.take(delivery):
                continue
            try:
                message = deliveries.message(delivery, now)
            except Exception as error:  # one damaged row must not stop the others
                log.exception("an event cannot be sent", delivery=delivery.pk)
                self._record(delivery, SendResult(None, f"{type(error).__name__}"))
                continue
            request = asyncio.run_coroutine_threadsafe(
                send(message, self._timeout_s), self._loop
            )
            self._running[request] = delivery
            began += 1
        return began

    def _end(self, future: Future[SendResult]) -> None:
        delivery = self._running.pop(future)
        try:
            result = future.result()
        except Exception as error:  # a fault of ours, and only of this try
            log.exception("a webhook cannot be sent", delivery=delivery.pk)
            result = SendResult(None, f"{type(error).__name__}")
        self._record(delivery, result)

    def _record(self, delivery: WebhookDelivery, result: SendResult) -> None:
        deliveries.record(delivery, result, self._clock(), self._rng)


async def _cancel_others() -> None:
    """Cancel all requests of this loop, and wait until their sockets are closed."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
