"""What a worker process does beside its games: it reports, and it notices deafness.

A worker can be alive and take nothing more after its broker was away (research found
it; the cause is not ours). Hints that lie in its queues while every slot is idle are
the evidence, and the process is replaced.
"""

import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial

import structlog
from celery import bootsteps
from celery.worker import WorkController
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import Error, connection

from ladder.bots import players
from ladder.games import capabilities, selectors
from ladder.games.worker import calibration, registry
from ladder.games.worker.play import RUNNING_GAMES, OpenPlayer, RunningGames
from ladder.games.worker.registry import WorkerInfo

REPORT_S = settings.TORRES_LEASE_SECONDS / 6
DEAF_S = settings.TORRES_LEASE_SECONDS
"""So long with hints waiting and nothing taken: it is deaf. Longer than a hint lives,
so that hints that the broker lost are no evidence."""

DEAF = 70
"""The exit code of a worker that took no work though there was some."""

PLAYS = {"play", "again", "tournament"}
"""The common queues of games."""

IN_PROCESS = (".thread", ".solo")
"""Pools whose tasks run in the process that reports."""

log = structlog.get_logger()


class WorkerReporter(threading.Thread):
    """Reports for one worker process until it is closed."""

    def __init__(
        self,
        card: WorkerInfo,
        queues: Sequence[str],
        *,
        when_deaf: Callable[[], None] | None = None,
        floor: RunningGames = RUNNING_GAMES,
    ) -> None:
        super().__init__(name="station", daemon=True)
        self.card = card
        self.queues = list(queues)
        self.when_deaf = when_deaf
        self.floor = floor
        self._closed = threading.Event()
        self._claimed = 0
        self._idle_since: float | None = None
        self._calibrated = False

    def run(self) -> None:
        while not self._closed.is_set():
            try:
                self.report()
            except Error as error:
                self._idle_since = None  # who hears nobody proves nothing
                log.warning("cannot report", error=str(error))
            connection.close()
            self._closed.wait(REPORT_S)

    def _calibrate(self, worker: int) -> None:
        self._calibrated = True
        run = partial(calibration.run, worker, self.floor.open_player)
        threading.Thread(target=run, name="calibration", daemon=True).start()

    def report(self) -> None:
        """Report once, and judge whether this worker is deaf."""
        worker = registry.register(self.card)
        claimed, self._claimed = self.floor.claimed != self._claimed, self.floor.claimed
        load = os.getloadavg()[0] / (os.cpu_count() or 1)
        takes = registry.report(worker, load=load, claimed=claimed)
        if not self._calibrated:
            self._calibrate(worker)
        idle = takes and not claimed and not len(self.floor)
        out = selectors.in_flight() if idle else Counter[str]()
        self._listen(waiting=any(out[queue] for queue in self.queues))

    def _listen(self, *, waiting: bool) -> None:
        """Take note of whether hints wait for an idle worker, and for how long."""
        now = time.monotonic()
        self._idle_since = (self._idle_since or now) if waiting else None
        if self._idle_since is None or self.when_deaf is None:
            return
        silent_s = now - self._idle_since
        if silent_s > DEAF_S:
            log.critical("worker is deaf: it is replaced", silent_s=silent_s)
            self.when_deaf()

    def close(self, grace_s: float) -> None:
        """Let games end for so long, hand back the rest, and sign off."""
        self._closed.set()
        self.floor.clear("the worker stops", grace_s=grace_s)
        self.join(5)
        try:
            registry.leave(registry.here(), "the worker stops")
        except Error as error:
            log.warning("cannot sign off", error=str(error))
        connection.close()


class ReporterStep(bootsteps.StartStopStep):
    """Starts with every worker: reports for it, and hands its games back at the end.

    A subclass may play with other players, which need something else of the host.
    """

    open_player: OpenPlayer = staticmethod(players.open_player)
    inspect_host = staticmethod(registry.survey)

    requires = ("celery.worker.components:Pool",)

    def start(self, parent: WorkController) -> None:
        if not parent.pool_cls.__module__.endswith(IN_PROCESS):  # type: ignore[attr-defined]
            raise ImproperlyConfigured(
                "Games are played by threads of one process, whose watchdog would not"
                " see those of others: say --pool threads, or nothing."
            )
        alone = parent.app.conf.broker_url.startswith("memory")
        card = self.inspect_host(parent.concurrency)  # type: ignore[attr-defined]
        words = card.offered
        queues = parent.app.amqp.queues
        if PLAYS & queues.consume_from.keys():
            queues.select_add(capabilities.queue_of(words))
        self.station = WorkerReporter(
            card, list(queues.consume_from), when_deaf=None if alone else replace
        )
        self.station.floor.open(words, self.open_player)
        self.station.start()

    def stop(self, parent: WorkController) -> None:
        self.station.close(grace_s=settings.CELERY_WORKER_SOFT_SHUTDOWN_TIMEOUT)

    def terminate(self, parent: WorkController) -> None:
        self.stop(parent)


def replace() -> None:
    """End this process at once: its supervisor starts a new one.

    Its bots die with it; games that others took are not touched.
    """
    os._exit(DEAF)
