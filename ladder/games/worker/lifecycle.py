"""The life of a worker process: it reports, notices that it hangs, and signs off.

A worker process may stay alive but take no more messages after an outage of its broker
(seen in tests; the cause lies outside this project). The evidence is that hints wait in
its queues while it plays nothing. Such an unresponsive worker ends its process, and its
supervisor starts a new one.
"""

import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import structlog
from celery import bootsteps
from celery.signals import worker_shutting_down
from celery.worker import WorkController
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import Error, connection

from ladder.bots import players
from ladder.common import statement_limits
from ladder.common.watchdog import EXIT_CODE, LIMIT_S, Watchdog
from ladder.games import capabilities, selectors
from ladder.games.worker import calibration, registry
from ladder.games.worker.direct_claims import DirectClaims
from ladder.games.worker.play import RUNNING_GAMES, OpenPlayer, RunningGames
from ladder.games.worker.registry import WorkerInfo
from ladder.games.worker.subscription import GAME_QUEUES, UPLOAD_QUEUE, Subscription
from ladder.games.worker.timings import TIMINGS

REPORT_INTERVAL_S = settings.TORRES_LEASE_SECONDS / 6
# Longer than a hint's lifetime, so that hints that the broker lost are no evidence.
UNRESPONSIVE_TIMEOUT_S = settings.TORRES_LEASE_SECONDS
JOIN_TIMEOUT_S = 5

# Celery pools whose tasks run in the process that reports.
IN_PROCESS_POOLS = (".thread", ".solo")

log = structlog.get_logger()


class WorkerReporter(threading.Thread):
    """Reports for one worker process until it is closed.

    `on_unresponsive` is called if the worker takes no hints although hints wait in one
    of its `queues`. None if a lost connection to the broker cannot happen.
    While the worker is drained, its `subscription` is paused. A refused claim causes a
    report at once, because it is the first sign of a drain. `inspect_tools` completes
    the description of the host; it is called once, after the first report.
    """

    def __init__(
        self,
        info: WorkerInfo,
        queues: Sequence[str],
        *,
        on_unresponsive: Callable[[], None] | None = None,
        subscription: Subscription | None = None,
        inspect_tools: Callable[[WorkerInfo], WorkerInfo] | None = None,
        running: RunningGames = RUNNING_GAMES,
    ) -> None:
        super().__init__(name="worker reporter", daemon=True)
        self.info = info
        self.queues = list(queues)
        self.on_unresponsive = on_unresponsive
        self.subscription = subscription
        self.inspect_tools = inspect_tools
        self.running = running
        self._closed = threading.Event()
        self._claimed_before = 0
        self._ignoring_hints_since: float | None = None
        self._introduced = False

    def run(self) -> None:
        with Watchdog(LIMIT_S + REPORT_INTERVAL_S) as watchdog:
            self._run(watchdog)

    def _run(self, watchdog: Watchdog) -> None:
        while not self._closed.is_set():
            watchdog.pet()
            try:
                self.report()
            except Error as error:
                # Without the database we do not know whether hints are waiting.
                self._ignoring_hints_since = None
                cut_off = statement_limits.met_by(error)
                log.warning("cannot report", error=str(error), **cut_off)
            connection.close_if_unusable_or_obsolete()
            self.running.refused.wait(REPORT_INTERVAL_S)
            self.running.refused.clear()

    def report(self) -> None:
        """Report once, and check whether this worker ignores hints.

        1. Update the worker's row: what it offers, its load, its last claim, and how
           long its games and their parts took.
        2. After the first report, inspect the tools and start the calibration.
        3. If the worker may take games, plays none and has claimed none since the last
           report, look for hints in its queues. They are evidence that it hangs.
        """
        worker = registry.register(self.info)
        self.running.worker = worker
        claimed = self.running.claimed != self._claimed_before
        self._claimed_before = self.running.claimed
        load = os.getloadavg()[0] / (os.cpu_count() or 1)
        may_take_games = registry.report(
            worker, load=load, claimed=claimed, timings=TIMINGS.snapshot()
        )
        if self.subscription is not None:
            self.subscription.set_active(active=may_take_games)
        if not self._introduced:
            self._introduced = True
            self._calibrate(worker)
        hints_wait = False
        if may_take_games and not claimed and not len(self.running):
            in_flight = selectors.in_flight(selectors.open_games())
            hints_wait = any(in_flight[queue] for queue in self.queues)
        self._judge(hints_wait=hints_wait)

    def _calibrate(self, worker: int) -> None:
        target = partial(self._inspect_and_calibrate, worker)
        threading.Thread(target=target, name="calibration", daemon=True).start()

    def _inspect_and_calibrate(self, worker: int) -> None:
        if self.inspect_tools is not None:
            self.info = self.inspect_tools(self.info)  # the next report stores it
        calibration.run(worker, self.running.open_player)

    def _judge(self, *, hints_wait: bool) -> None:
        """Call `on_unresponsive` if hints have waited for an idle worker too long."""
        if not hints_wait:
            self._ignoring_hints_since = None
            return
        now = time.monotonic()
        if self._ignoring_hints_since is None:
            self._ignoring_hints_since = now
        ignored_s = now - self._ignoring_hints_since
        if self.on_unresponsive is not None and ignored_s > UNRESPONSIVE_TIMEOUT_S:
            log.critical("worker is unresponsive and ends", ignored_hints_s=ignored_s)
            self.on_unresponsive()

    def close(self, grace_s: float) -> None:
        """Wait until games end, release the remaining games, and sign off.

        The second call does not wait any more.
        """
        reason = "the worker stops"
        if self._closed.is_set():
            grace_s = 0.0
        self._closed.set()
        self.running.refused.set()
        self.running.stop_all(reason, grace_s=grace_s)
        self.join(JOIN_TIMEOUT_S)
        self.running.worker = None
        try:
            registry.sign_off(registry.current_worker(), reason)
        except Error as error:
            log.warning("cannot sign off", error=str(error))
        connection.close()


class ReporterStep(bootsteps.StartStopStep):
    """Celery's hook into a worker process: start and stop its reporter.

    A subclass may play with other players, which need something else of the host.
    """

    requires = ("celery.worker.components:Pool",)
    open_player: OpenPlayer = staticmethod(players.open_player)
    inspect_host = staticmethod(registry.inspect_host)
    inspect_tools: Callable[[WorkerInfo], WorkerInfo] | None = staticmethod(
        registry.inspect_tools
    )

    def start(self, parent: WorkController) -> None:
        """Describe this host, listen to the queue of its group, and report."""
        if not parent.pool_cls.__module__.endswith(IN_PROCESS_POOLS):  # type: ignore[attr-defined]
            raise ImproperlyConfigured(
                "Threads of one process play the games, so that its watchdog sees all"
                " of them. Start the worker with '--pool threads' or without --pool."
            )
        slots: int = parent.concurrency  # type: ignore[attr-defined]
        queues = parent.app.amqp.queues
        takes_uploads = UPLOAD_QUEUE in queues.consume_from
        info = replace(
            self.inspect_host(slots), upload_slots=slots if takes_uploads else 0
        )
        if GAME_QUEUES & queues.consume_from.keys():
            queues.select_add(capabilities.queue_of(info.offered))
        else:
            info = replace(info, slots=0)
        # The in-memory broker is in this process, so no connection to it can be lost.
        in_memory = parent.app.conf.broker_url.startswith("memory")
        self.reporter = WorkerReporter(
            info,
            list(queues.consume_from),
            on_unresponsive=None if in_memory else exit_for_restart,
            subscription=Subscription(parent),
            inspect_tools=self.inspect_tools,
        )
        running = self.reporter.running
        running.accept(info.offered, self.open_player)
        self.reporter.start()
        # Celery declares `pool` as the step that makes the pool.
        pool: Any = parent.pool
        self.direct_claims = DirectClaims(pool, info.slots, running)
        self.direct_claims.start()
        # Celery would wait for the whole grace time, even if all games have ended.
        worker_shutting_down.connect(self._end, sender=parent.hostname)  # type: ignore[attr-defined]

    def _end(self, how: str, **_: object) -> None:
        """End the games before Celery ends its connection to the broker."""
        if how == "Cold":
            self.direct_claims.close()
            self.reporter.close(grace_s=settings.TORRES_GRACE_SECONDS)

    def stop(self, parent: WorkController) -> None:
        self.direct_claims.close()
        self.reporter.close(grace_s=settings.TORRES_GRACE_SECONDS)

    def terminate(self, parent: WorkController) -> None:
        self.stop(parent)


def exit_for_restart() -> None:
    """End this process at once, so that its supervisor starts a new one.

    The bots of this process die with it. Games of other workers are not affected.
    """
    os._exit(EXIT_CODE)
