"""Hints: the messages that tell workers which game to claim.

A hint carries a game's number and nothing else. It may be lost, late or doubled,
because the worker's claim in the database decides who plays. `HintPlanner` chooses
which hints are sent now and to which queue; `send_hint` sends one.
"""

from collections.abc import Sequence
from typing import NamedTuple

import structlog
from kombu import Producer
from kombu.exceptions import InconsistencyError

from ladder.dispatch.tasks import play_game
from ladder.games import selectors as games
from ladder.games.capabilities import WorkerPool
from ladder.games.shares import Shares
from ladder.games.sql import DueGame, OpenGames

# A shallow queue lets urgent games overtake the others.
HINTS_PER_SLOT = 2

log = structlog.get_logger()


class PlannedHint(NamedTuple):
    """A hint that is to be sent now."""

    queue: str
    game: int


class HintPlanner:
    """Chooses the games to hint at and their queues. No queue becomes long."""

    def __init__(
        self, workers: WorkerPool, open_games: Sequence[OpenGames], uploads: int = 0
    ) -> None:
        self.hints: list[PlannedHint] = []
        self._workers = workers
        self._shares = Shares(workers, open_games, uploads)
        self._in_flight = games.in_flight(open_games)
        """The hints that no worker has followed yet, by queue."""
        self._saturated: set[str] = set()
        """Needs of games whose capable workers already have enough hints."""
        self._spent: set[str] = set()
        """Budgets whose games already hold their share of the slots."""

    def fill(self) -> None:
        """Choose games in the order of their turn until all slots have enough hints.

        A game is skipped if its capable workers have enough hints, or if its budget is
        spent. Each skipped game leaves capacity for other games, so the search is
        repeated without such games until nothing is skipped any more.
        """
        capacity = self._capacity()
        while capacity > 0:
            skipped_before = len(self._saturated) + len(self._spent)
            chosen = {hint.game for hint in self.hints}
            limit = capacity + len(chosen)
            for due in games.due(limit, self._saturated, self._spent):
                if due.game not in chosen and due.needs not in self._saturated:
                    self._plan(due)
            if len(self._saturated) + len(self._spent) == skipped_before:
                break
            capacity = self._capacity()

    def _capacity(self) -> int:
        return HINTS_PER_SLOT * self._workers.slots - self._in_flight.total()

    def _plan(self, due: DueGame) -> None:
        """Send a game to a common queue if every worker is capable of it.

        Otherwise choose the least loaded group of capable workers.
        """
        capable = self._workers.capable(due.needs)
        if capable and len(capable) == len(self._workers.groups):
            self._add("again" if due.again else due.queue, due)
            return
        free = [
            group
            for group in capable
            if self._in_flight[group.queue] < HINTS_PER_SLOT * group.slots
        ]
        if not free:
            self._saturated.add(due.needs)
            return
        group = min(free, key=lambda group: self._in_flight[group.queue] / group.slots)
        self._add(group.queue, due)

    def _add(self, queue: str, due: DueGame) -> None:
        if not self._shares.take(due.budget):
            self._spent.add(due.budget)
            return
        self._in_flight[queue] += 1
        self.hints.append(PlannedHint(queue, due.game))


def send_hint(game: int, queue: str, producer: Producer) -> None:
    """Send a hint for one game."""
    play_game.apply_async((game,), queue=queue, producer=producer, retry=False)


def handle_broker_error(error: Exception) -> None:
    """Log one of BROKER_ERRORS, and declare all queues again if the broker lost them.

    A flushed Redis has forgotten its queues. Celery declares a queue once for each
    connection, so without this call messages would stay unroutable for ever.
    """
    log.warning("broker is not available", error=str(error))
    if isinstance(error, InconsistencyError):
        with play_game.app.connection_for_write() as session:
            for queue in play_game.app.amqp.queues.values():
                queue(session.default_channel).declare()
