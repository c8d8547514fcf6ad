"""A game from the claim to its end, in a worker. Never raises: a message is a hint.

Whatever goes wrong on our side ends the attempt, and the game is played again by
whoever comes next. If even that can't be written, the lease runs out.
"""

import threading
import time
from collections.abc import Callable, Sequence
from enum import StrEnum

import structlog
from django.conf import settings
from django.db import Error, InterfaceError, OperationalError, connection

from engine import referee
from engine.referee import GameRecord, ServiceFault
from ladder.bots import players
from ladder.bots.models import Submission
from ladder.games import attempts
from ladder.games.attempts import Claim, FinishedGame
from ladder.games.capabilities import Capabilities, fit
from ladder.games.models import Game
from ladder.games.worker import engine_adapter
from ladder.games.worker.heartbeat import Heartbeat, SeatPlayer, Stopped
from ladder.runner.verdict import SeatOutput

PATIENCE_S = 60.0
"""How long a result is kept for a database that does not answer."""
RETRY_S = 0.5
AWAY = (OperationalError, InterfaceError)

log = structlog.get_logger()

OpenPlayer = Callable[[Submission, dict[str, int]], SeatPlayer]
"""Opens a player of a submission, with the limits of the match."""


class AttemptEnd(StrEnum):
    """What became of one message."""

    NOT_TAKEN = "not taken"
    FINISHED = "finished"
    FAILED = "failed"
    RELEASED = "released"
    LATE = "late"
    UNKNOWN = "unknown: the database is away"


class RunningGames:
    """The games that run in this process, and how this process plays them.

    `offered` is what the worker offers; None if it plays every game. `open_player`
    opens the players of all games.
    """

    def __init__(self, open_player: OpenPlayer = players.open_player) -> None:
        self.open_player = open_player
        self._hearts: set[Heartbeat] = set()
        self._change = threading.Condition()
        self.closing = ""
        self.claimed = 0
        self.offered: Capabilities | None = None

    def enter(self, heart: Heartbeat) -> None:
        with self._change:
            self._hearts.add(heart)
            self.claimed += 1
            if self.closing:
                heart.stop(self.closing)

    def leave(self, heart: Heartbeat) -> None:
        with self._change:
            self._hearts.discard(heart)
            self._change.notify_all()

    def __len__(self) -> int:
        return len(self._hearts)

    def clear(self, why: str, *, grace_s: float, stop_s: float = 5.0) -> None:
        """Let running games end for a while, then stop them; they are handed back."""
        with self._change:
            self._change.wait_for(lambda: not self._hearts, grace_s)
            self.closing = why
            for heart in self._hearts:
                heart.stop(why)
            self._change.wait_for(lambda: not self._hearts, stop_s)

    def open(
        self,
        offered: Capabilities | None = None,
        open_player: OpenPlayer | None = None,
    ) -> None:
        """Take games (again): those that need no more than this, or all."""
        self.closing = ""
        self.offered = offered
        self.open_player = open_player or self.open_player


RUNNING_GAMES = RunningGames()


def play(game: int, worker: int, floor: RunningGames = RUNNING_GAMES) -> AttemptEnd:
    """Play a game if it is still to be played, and say what became of it."""
    try:
        if floor.closing:
            return AttemptEnd.NOT_TAKEN
        claim = attempts.claim(game, worker)
        if claim is None:
            return AttemptEnd.NOT_TAKEN
        seated = engine_adapter.load(claim.game)
        if not fit(seated.needs, floor.offered):
            # A hint went astray; the next one goes to a worker that is able.
            attempts.release(claim.game, claim.fence, "not for this worker")
            return AttemptEnd.NOT_TAKEN
    except Error as error:
        log.warning("cannot claim", game=game, error=str(error))
        return AttemptEnd.UNKNOWN
    finally:
        connection.close()
    heart = Heartbeat(
        claim, seated.match.seats, deadline_s=settings.TORRES_MAX_GAME_SECONDS
    )
    heart.start()
    floor.enter(heart)
    try:
        return _attempt(claim, seated, heart, floor.open_player)
    finally:
        heart.close()
        floor.leave(heart)
        connection.close()


def _attempt(
    claim: Claim, seated: Game, heart: Heartbeat, open_player: OpenPlayer
) -> AttemptEnd:
    try:
        outcome = _perform(seated, heart, open_player)
        result = engine_adapter.result(seated, outcome)
    except Stopped:
        return _give_back(claim, heart)
    except Exception as failure:  # the one boundary: our crash is not a bot's
        if heart.stopped:  # whatever it is, we caused it
            return _give_back(claim, heart)
        if not isinstance(failure, ServiceFault):
            log.exception("the referee failed", game=claim.game)
        return _fail(claim, heart, failure)
    heart.close()
    if heart.stopped:
        return _give_back(claim, heart)
    try:
        return _finish(claim, result, heart.outputs())
    except Error as bug:  # refused, not away: trying again would not help
        log.exception("the result cannot be stored", game=claim.game)
        return _fail(claim, heart, bug)


def _perform(seated: Game, heart: Heartbeat, open_player: OpenPlayer) -> GameRecord:
    match = seated.match
    seated_players = [
        open_player(seat.submission, match.limits) for seat in seated.seats.all()
    ]
    heart.guard(seated_players)
    return referee.play(
        engine_adapter.start(match),
        seated_players,
        seed=match.seed,
        limits=match.limits,
        watch=heart.watch,
    )


def _finish(
    claim: Claim, result: FinishedGame, outputs: Sequence[SeatOutput]
) -> AttemptEnd:
    written = _insist(lambda: attempts.finish(claim, result, outputs))
    if written is None:
        return AttemptEnd.UNKNOWN
    return AttemptEnd.FINISHED if written else AttemptEnd.LATE


def _fail(claim: Claim, heart: Heartbeat, why: Exception) -> AttemptEnd:
    heart.close()
    reason = f"{type(why).__name__}: {why}"
    written = _insist(lambda: attempts.fail(claim, reason, heart.outputs()))
    return AttemptEnd.FAILED if written else AttemptEnd.UNKNOWN


def _give_back(claim: Claim, heart: Heartbeat) -> AttemptEnd:
    """Hand back what a stopping worker holds; anything else that stops is a failure."""
    heart.close()
    if heart.stopped.startswith("deadline"):
        return _fail(claim, heart, TimeoutError(heart.stopped))
    _insist(lambda: attempts.release(claim.game, claim.fence, heart.stopped))
    return AttemptEnd.RELEASED


def _insist(write: Callable[[], bool]) -> bool | None:
    """Write, for as long as the database is away but might come back.

    None if it stayed away: then the lease has long run out.
    """
    until = time.monotonic() + PATIENCE_S
    pause = threading.Event()
    while True:
        try:
            return write()
        except AWAY as error:
            log.warning("cannot write", error=str(error))
            connection.close()
            if time.monotonic() > until:
                return None
            pause.wait(RETRY_S)
