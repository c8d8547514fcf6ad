"""Shares of the workers' slots, so that no kind of game and no user takes all of them.

A game that a ladder rates has the budget "". Every other game names the budget that
pays for it: its kind and the user who asked for it, such as ``tournament 12``. A budget
pays with slots for as long as its games run or have a hint, so bots that sleep use it
up. A share that has no games of its own is lent to the others. Uploads that workers
validate hold slots, too.

Some games may last longer than TORRES_MAX_GAME_SECONDS, because of their limits. Their
budgets end with LONG, and they borrow nothing, because nobody gets a slot back soon.
"""

from collections import Counter
from collections.abc import Iterable, Mapping

from django.conf import settings

from ladder.games.capabilities import WorkerPool
from ladder.games.sql import OpenGames

LONG = "long"
UPLOADS = "uploads -"
"""The budget of all uploads; no user pays for it."""
# 12 turns, each perhaps with two purchases, and the decisions outside of turns.
MAX_DECISIONS_OF_A_SEAT = 48


def deadline_s(limits: Mapping[str, int], seats: int) -> float:
    """Return after how many seconds a game is stopped.

    Three times the thinking time that its seats may use: waiting for a processor is
    not charged. TORRES_MAX_GAME_SECONDS is the least deadline.
    """
    moves_ms = MAX_DECISIONS_OF_A_SEAT * limits["move_ms"]
    thinking_s = seats * (limits["start_ms"] + limits["bank_ms"] + moves_ms) / 1e3
    least_s: float = settings.TORRES_MAX_GAME_SECONDS
    return max(least_s, 3 * thinking_s)


def budget(kind: str, payer: int | None, limits: Mapping[str, int], seats: int) -> str:
    """Return the budget of a game that no ladder rates; `payer` is the id of a user."""
    is_long = deadline_s(limits, seats) > settings.TORRES_MAX_GAME_SECONDS
    return f"{kind} {payer or 0}{f' {LONG}' if is_long else ''}"


def reserve(slots: int) -> int:
    """Return how many of the slots are kept for ladders. One slot is always left."""
    return int(slots * settings.TORRES_LADDER_SHARE)


class Shares:
    """Decides which budgets may take another slot now.

    `games` are all open games. Those that no worker can play count for nothing.
    `uploads` counts the uploads that are validated, or have a hint. Workers that play
    no games take them first.
    """

    def __init__(
        self, workers: WorkerPool, games: Iterable[OpenGames], uploads: int = 0
    ) -> None:
        self._builders = workers.builders
        self._shared = workers.slots - workers.plays_only
        """The slots that take games and uploads."""
        self._uploads = uploads
        beside_games = min(max(0, uploads - self._builders), self._shared)
        self._held: Counter[str] = Counter({UPLOADS: beside_games})
        """The slots that games with a budget and uploads hold, by budget."""
        self._open: Counter[str] = Counter()
        """The open games with a budget, by payer."""
        self._ladder_games = 0
        for row in games:
            if not workers.capable(row.needs):
                continue
            if not row.budget:
                self._ladder_games += row.games
                continue
            self._open[_payer(row.budget)] += row.games
            if row.hold_slots:
                self._held[row.budget] += row.games
        kept = reserve(workers.slots)
        self._own = workers.slots - kept
        """The slots that are not kept for ladders."""
        self._free = workers.slots - min(kept, self._ladder_games)
        """The same, with the slots for which ladders have no games."""

    def for_uploads(self) -> int:
        """Return how many more uploads may be validated now.

        While games of a budget are open, uploads leave them half of the slots that are
        not kept for ladders. They may hold one slot in any case.
        """
        free = self._free // 2 if self._open else self._free
        room = self._builders + min(self._shared, max(1, free))
        return max(0, room - self._uploads)

    def take(self, budget: str) -> bool:
        """Let a game have a slot; False if its budget or all budgets are used up."""
        if not budget:
            return True
        if not self._has_room(budget):
            return False
        self._held[budget] += 1
        return True

    def _has_room(self, budget: str) -> bool:
        held = self._held
        if budget.endswith(LONG):
            long = sum(count for name, count in held.items() if name.endswith(LONG))
            return (
                long < self._own
                and held[budget] < max(1, self._own // 2)
                and held.total() < self._free
            )
        payer = _payer(budget)
        others = [count for name, count in self._open.items() if name != payer]
        if not others and not self._ladder_games:
            return True  # nobody else waits, so hints may queue behind running games
        fair = max(1, self._free // (len(others) + 1))
        lent = self._free - sum(min(fair, count) for count in others)
        of_payer = sum(count for name, count in held.items() if _payer(name) == payer)
        return held.total() < self._free and of_payer < max(fair, lent)


def _payer(budget: str) -> str:
    return budget.split()[1]
