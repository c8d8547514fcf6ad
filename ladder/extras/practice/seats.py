"""The players of a practice game: the person, and the bots in their sandboxes.

Both know the moves of an earlier host. If a game goes on after an interruption, its
seats repeat these moves before they decide anything new. A bot gets the same questions
again, because its process is a new one.
"""

import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from threading import Event

import structlog
from django.db import Error, connection

from engine.documents import ForfeitEntry
from engine.faults import EndReason, Fault
from engine.referee import Answer, Ask, Hello, PlayerFault, QuietPlayer
from ladder.extras.practice import claims
from ladder.extras.practice.claims import ClaimLost, PracticeClaim
from ladder.extras.practice.models import PracticeMove
from ladder.games.worker.lease_keeper import SeatPlayer
from torres.runner.verdict import SeatOutput

POLL_INTERVAL_S = 0.25

log = structlog.get_logger()


class PersonLeft(Exception):
    """The person did not answer in time."""


class BotDiffers(Exception):
    """A bot did not repeat its moves when the game went on after an interruption."""


@dataclass(slots=True)
class SeatHistory:
    """The moves of a seat under an earlier claim, in order, and its forfeit."""

    moves: deque[PracticeMove] = field(default_factory=deque)
    forfeit: ForfeitEntry | None = None

    def fault(self) -> PlayerFault | None:
        """Return the fault with which the seat forfeited, once its moves are over."""
        if self.moves or self.forfeit is None:
            return None
        reason = Fault(self.forfeit["reason"])
        return PlayerFault(reason, "it forfeited before the interruption")


def histories(
    seats: int, moves: Iterable[PracticeMove], forfeits: Iterable[ForfeitEntry]
) -> list[SeatHistory]:
    """Return what each seat did. Answers for forfeited seats are made anew."""
    result = [SeatHistory() for _ in range(seats)]
    for move in moves:
        if move.ms is not None:
            result[move.seat].moves.append(move)
    for forfeit in forfeits:
        result[forfeit["seat"]].forfeit = forfeit
    return result


class PersonPlayer(QuietPlayer):
    """The player of the person's seat. It asks through the database and waits.

    The person has some seconds for each decision, and a bank for the whole game. Both
    are wall time. The referee is told that the answer took no time, because its clocks
    are for bots. The page shows the end, and the lease keeper sets the stop event.
    """

    def __init__(
        self,
        claim: PracticeClaim,
        history: SeatHistory,
        bank_s: float,
        stop: Event,
    ) -> None:
        self._claim = claim
        self._history = history
        self._bank_s = bank_s
        self._stop = stop

    def decide(self, ask: Ask) -> Answer:
        """Return the answer. Raises PersonLeft, ClaimLost, and PlayerFault."""
        if self._history.moves:
            return Answer(self._history.moves.popleft().actions, None, 0.0)
        if fault := self._history.fault():
            raise fault
        move_s = claims.move_seconds()
        claims.ask(self._claim, ask.ply, move_s + self._bank_s, self._bank_s)
        asked_at = time.monotonic()
        actions = self._wait(ask.ply, asked_at + move_s + self._bank_s)
        used_s = time.monotonic() - asked_at
        self._bank_s -= max(0.0, used_s - move_s)
        return Answer(actions, None, 0.0)

    def _wait(self, ply: int, deadline: float) -> list[str]:
        """Look for the answer several times a second. The bots sleep meanwhile."""
        while not self._stop.is_set():
            try:
                actions = claims.answer_to(self._claim, ply)
            except Error as error:
                # The lease keeper stops the game if the database stays away.
                log.warning("cannot look for an answer", error=str(error))
                connection.close()
                actions = None
            if actions is not None:
                return actions
            if time.monotonic() > deadline:
                raise PersonLeft
            self._stop.wait(POLL_INTERVAL_S)
        raise ClaimLost

    def output(self) -> SeatOutput:
        return SeatOutput()


class PracticeBot:
    """The player of a bot, which first repeats its moves after an interruption."""

    def __init__(
        self,
        bot: SeatPlayer,
        history: SeatHistory,
        on_forfeit: Callable[[Fault, str], None],
    ) -> None:
        self._bot = bot
        self._history = history
        self._on_forfeit = on_forfeit

    def start(self, hello: Hello) -> None:
        if fault := self._history.fault():
            raise fault
        self._bot.start(hello)

    def decide(self, ask: Ask) -> Answer:
        """Return the bot's answer. Raises PlayerFault and BotDiffers.

        1. If the seat forfeited here before the interruption, it does so again.
        2. Otherwise ask the bot.
        3. If a move of it is stored, its answer must begin with the same actions. The
           stored time is charged, so that its clock is what it was.
        """
        if fault := self._history.fault():
            raise fault
        answer = self._bot.decide(ask)
        if not self._history.moves:
            return answer
        stored = self._history.moves.popleft()
        if answer.index is not None:
            actions = ask.legal[answer.index : answer.index + 1]
        else:
            actions = answer.actions or []
        if actions[: len(stored.actions)] != stored.actions:
            raise BotDiffers
        return Answer(stored.actions, None, stored.ms or 0.0, note=stored.note)

    def forfeit(self, reason: Fault, detail: str) -> None:
        self._on_forfeit(reason, detail)
        self._bot.forfeit(reason, detail)

    def end(self, scores: list[int], ranks: list[int], reason: EndReason) -> None:
        self._bot.end(scores, ranks, reason)

    def kill(self) -> None:
        self._bot.kill()

    def output(self) -> SeatOutput:
        return self._bot.output()
