"""Take games from the database while the broker does not answer.

A message is only a hint that a game waits. Without the broker no hints arrive, although
the games wait in the database. A worker that has received no hint for a while asks the
broker for a sign of life. If none comes, the worker looks for games itself, until hints
arrive again: its connection comes back up to half a minute after the broker.
"""

import threading
import time
from collections.abc import Callable
from typing import Protocol

import structlog
from django.db import Error, connection

from ladder.common import publishing
from ladder.games import selectors
from ladder.games.capabilities import fit
from ladder.games.shares import Shares
from ladder.games.sql import DueGame
from ladder.games.worker import registry
from ladder.games.worker.play import AttemptEnd, RunningGames, play

LOOK_INTERVAL_S = 0.25
NO_HINT_S = 3.0
"""After this time without a hint, the worker checks whether the broker answers. While
the broker is away, hints that are older count as lost."""
BROKER_CHECK_INTERVAL_S = 2.0
RECONNECTED_S = 60.0
"""For this time after the broker has answered, its absence lasts if no hint arrives. A
worker that receives none for longer is unresponsive, and its reporter ends it."""

log = structlog.get_logger()


class Pool(Protocol):
    """Celery's pool. Its threads play the games, so that the slots are never exceeded.

    It calls `callback` with the result, and needs one.
    """

    def apply_async(
        self,
        target: Callable[[int], None],
        args: tuple[int],
        *,
        callback: Callable[[object], None],
    ) -> object: ...


class DirectClaims(threading.Thread):
    """Fills free slots with games of the database while the broker is away."""

    def __init__(self, pool: Pool, slots: int, running: RunningGames) -> None:
        super().__init__(name="direct claims", daemon=True)
        self._pool = pool
        self._slots = slots
        self._running = running
        self._wake = threading.Event()
        self._closed = False
        self._asked: set[int] = set()
        """The games that the pool was asked to play and has not finished."""
        self._broker = BrokerWatch(running)

    def run(self) -> None:
        self._broker.start()
        while not self._closed:
            self._wake.wait(LOOK_INTERVAL_S)
            self._wake.clear()
            try:
                self.look()
            except Error as error:
                log.warning("cannot look for games", error=str(error))
            connection.close_if_unusable_or_obsolete()

    def close(self) -> None:
        self._closed = True
        self._broker.close()
        self._wake.set()

    def look(self) -> None:
        """Fill the free slots if no hint arrives and the broker is away."""
        # A game of a hint is also in `running`, one that waits for a thread is not.
        free = self._slots - max(len(self._running), len(self._asked))
        if free < 1 or self._running.closing or not self._broker.is_away:
            return
        for due in self._due(free):
            self._asked.add(due.game)
            self._pool.apply_async(self._play, (due.game,), callback=_ignore)

    def _due(self, free: int) -> list[DueGame]:
        """Return games in the order of their turn that this worker may play now."""
        shares = Shares(selectors.worker_pool(), selectors.open_games())
        chosen: dict[int, DueGame] = {}
        unfit: set[str] = set()
        spent: set[str] = set()
        while True:
            skipped = len(unfit) + len(spent)
            known = self._asked | chosen.keys()
            limit = free + len(known)
            for row in selectors.due(limit, unfit, spent, hint_s=NO_HINT_S):
                if row.game in known:
                    continue
                if not fit(row.needs, self._running.offered):
                    unfit.add(row.needs)
                elif shares.take(row.budget):
                    chosen[row.game] = row
                else:
                    spent.add(row.budget)
            if len(unfit) + len(spent) == skipped:
                return list(chosen.values())[:free]

    def _play(self, game: int) -> None:
        try:
            end = play(game, registry.current_worker(), self._running)
        finally:
            self._asked.discard(game)
        if end != AttemptEnd.NOT_TAKEN:
            self._wake.set()  # a slot is free


class BrokerWatch(threading.Thread):
    """Knows whether the broker is away. A slot never waits for the answer."""

    def __init__(self, running: RunningGames) -> None:
        super().__init__(name="broker watch", daemon=True)
        self.is_away = False
        self._running = running
        self._closed = threading.Event()
        self._answered_at = 0.0
        """When the broker answered for the first time after its absence."""

    def run(self) -> None:
        while not self._closed.wait(BROKER_CHECK_INTERVAL_S):
            self.check()

    def close(self) -> None:
        self._closed.set()

    def check(self) -> None:
        """Ask the broker for a sign of life, unless a hint has arrived lately."""
        now = time.monotonic()
        if now - self._running.hinted_at < NO_HINT_S:
            self.is_away = False
        elif not _answers():
            if not self.is_away:
                log.warning("broker is away; games are taken from the database")
            self.is_away = True
            self._answered_at = 0.0
        elif self.is_away:
            self._answered_at = self._answered_at or now
            self.is_away = now - self._answered_at < RECONNECTED_S


def _answers() -> bool:
    try:
        publishing.ping()
    except publishing.BROKER_ERRORS:
        return False
    return True


def _ignore(result: object) -> None:
    """Take the result of a task that Celery's pool has run."""
