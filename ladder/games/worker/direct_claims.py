"""Take games from the database while the broker does not answer.

A message is only a hint that a game waits. Without the broker no hints arrive, although
the games wait in the database. A worker that has received no hint for a while asks the
broker for a sign of life. If none comes, the worker looks for games itself.
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

LOOK_INTERVAL_S = 1.0
NO_HINT_S = 3.0
"""After this time without a hint, the worker checks whether the broker answers."""
BROKER_CHECK_INTERVAL_S = 5.0

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
        self._checked_at = float("-inf")
        self._is_away = False

    def run(self) -> None:
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
        self._wake.set()

    def look(self) -> None:
        """Fill the free slots if no hint arrives and the broker is away."""
        # A game of a hint is also in `running`, one that waits for a thread is not.
        free = self._slots - max(len(self._running), len(self._asked))
        if free < 1 or self._running.closing or not self._broker_is_away():
            return
        for due in self._due(free):
            self._asked.add(due.game)
            self._pool.apply_async(self._play, (due.game,), callback=_ignore)

    def _broker_is_away(self) -> bool:
        now = time.monotonic()
        if now - self._running.hinted_at < NO_HINT_S:
            self._is_away = False
        elif now - self._checked_at > BROKER_CHECK_INTERVAL_S:
            was_away = self._is_away
            self._is_away = _does_not_answer()
            self._checked_at = time.monotonic()
            if self._is_away and not was_away:
                log.warning("broker is away; games are taken from the database")
        return self._is_away

    def _due(self, free: int) -> list[DueGame]:
        """Return games in the order of their turn that this worker may play now."""
        shares = Shares(selectors.worker_pool(), selectors.open_games())
        chosen: dict[int, DueGame] = {}
        unfit: set[str] = set()
        spent: set[str] = set()
        while True:
            skipped = len(unfit) + len(spent)
            known = self._asked | chosen.keys()
            for row in selectors.due(free + len(known), unfit, spent):
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


def _does_not_answer() -> bool:
    try:
        publishing.ping()
    except publishing.BROKER_ERRORS:
        return True
    return False


def _ignore(result: object) -> None:
    """Take the result of a task that Celery's pool has run."""
