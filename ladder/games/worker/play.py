"""Play one game inside a worker, from the claim to the result.

`play` never raises, because the message that asks for it is only a hint. A fault of the
service ends the attempt, and the game is played again by the next worker that claims
it. If even the end of the attempt cannot be written, the lease ends and the reaper
writes it. This module does not know where messages come from.
"""

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from enum import StrEnum
from typing import Protocol

import structlog
from django.db import (
    Error,
    InterfaceError,
    InternalError,
    OperationalError,
    connection,
    transaction,
)

from engine import referee
from engine.faults import Fault
from engine.referee import (
    Answer,
    Ask,
    GameRecord,
    Hello,
    PlayerFault,
    QuietPlayer,
    ServiceFault,
)
from ladder.bots import players
from ladder.bots.models import Submission
from ladder.common import statement_limits, tracing
from ladder.games import attempts
from ladder.games.attempts import Claim, FinishedGame
from ladder.games.capabilities import Capabilities, fit
from ladder.games.models import Game, Seat
from ladder.games.shares import deadline_s
from ladder.games.worker import engine_adapter, game_trace
from ladder.games.worker.lease_keeper import DEADLINE, Heartbeat, SeatPlayer, Stopped
from ladder.games.worker.timings import TIMINGS, Timing
from torres.runner.verdict import SeatOutput

# How long a result is kept if the database does not answer.
WRITE_TIMEOUT_S = 60.0
WRITE_RETRY_INTERVAL_S = 0.5
# How long players may take to end after a worker stopped their games.
STOP_TIMEOUT_S = 5.0
# A server that has become a read-only standby raises InternalError.
DATABASE_AWAY = (OperationalError, InterfaceError, InternalError)

log = structlog.get_logger()


class OpenPlayer(Protocol):
    """Opens a player of a submission, with the limits of the match.

    With a strict clock the player no longer gets the benefit of the doubt.
    """

    def __call__(
        self, submission: Submission, limits: dict[str, int], *, strict_clock: bool
    ) -> SeatPlayer: ...


class BlamedPlayer(QuietPlayer):
    """The player of a seat in which too many attempts failed: it forfeits at once."""

    def start(self, hello: Hello) -> None:
        raise PlayerFault(
            Fault.CRASH,
            "every attempt at this game failed while the service ran this bot; look at"
            " the logs of the attempts, and report it if your bot does nothing unusual",
        )

    def decide(self, ask: Ask) -> Answer:
        raise AssertionError("a player that forfeited at its start is never asked")

    def output(self) -> SeatOutput:
        return SeatOutput()


class AttemptEnd(StrEnum):
    """How the handling of one hint ended."""

    NOT_TAKEN = "not taken"
    FINISHED = "finished"
    FAILED = "failed"
    RELEASED = "released"
    LATE = "late"
    UNKNOWN = "unknown: the database is away"


class RunningGames:
    """The games that run in this process, and how this process plays them.

    `claimed` counts the games that were ever claimed. `offered` holds the tags that
    the worker offers; None if it plays every game. `open_player` opens all players.
    `worker` is the id of this worker's row at its last report; None before.
    `closing` is true once it claims no more games, and `stop_reason` is "" until the
    running ones are stopped. `hinted_at` is the moment of the last hint.
    """

    def __init__(self, open_player: OpenPlayer = players.open_player) -> None:
        self.open_player = open_player
        self.offered: Capabilities | None = None
        self.claimed = 0
        self.worker: int | None = None
        self.hinted_at = time.monotonic()
        self.closing = False
        self.stop_reason = ""
        self.refused = threading.Event()
        """Set if a claim was refused although its game is scheduled."""
        self._heartbeats: set[Heartbeat] = set()
        self._change = threading.Condition()

    def __len__(self) -> int:
        return len(self._heartbeats)

    def accept(
        self, offered: Capabilities | None, open_player: OpenPlayer | None = None
    ) -> None:
        """Accept games that need nothing beyond `offered`, also after a stop."""
        self.closing = False
        self.stop_reason = ""
        self.offered = offered
        if open_player is not None:
            self.open_player = open_player

    def enter(self, heartbeat: Heartbeat) -> None:
        with self._change:
            self._heartbeats.add(heartbeat)
            self.claimed += 1
            if self.stop_reason:
                heartbeat.stop(self.stop_reason)

    def leave(self, heartbeat: Heartbeat) -> None:
        with self._change:
            self._heartbeats.discard(heartbeat)
            self._change.notify_all()

    def stop_all(self, reason: str, *, grace_s: float) -> None:
        """Accept no more games, wait until the games end, and stop the rest.

        Stopped games are released, so that other workers play them.
        """
        with self._change:
            self.closing = True
            self._change.wait_for(self._is_empty, grace_s)
            self.stop_reason = reason
            for heartbeat in self._heartbeats:
                heartbeat.stop(reason)
            self._change.wait_for(self._is_empty, STOP_TIMEOUT_S)

    def _is_empty(self) -> bool:
        return not self._heartbeats


RUNNING_GAMES = RunningGames()


def play(game: int, worker: int, running: RunningGames = RUNNING_GAMES) -> AttemptEnd:
    """Play a game if this worker can claim it; return how that ended.

    1. Claim the game. Without a claim there is nothing to do.
    2. Start a heartbeat, which renews the lease and stores answers.
    3. Let the referee play the game with one player for each seat.
    4. Close the heartbeat. From here on only this thread writes for the claim.
    5. Finish the game, or fail or release the attempt.
    """
    began_ns = tracing.now_ns()
    try:
        attempt = _claim(game, worker, running)
        if attempt is None:
            return AttemptEnd.NOT_TAKEN
        with game_trace.span_of(attempt.claim, attempt.game, began_ns) as span:
            end = _run(attempt, running)
            span.describe({"torres.end": end})
            return end
    except Error as error:
        cut_off = statement_limits.met_by(error)
        log.warning("cannot claim", game=game, error=str(error), **cut_off)
    except Exception:  # the lease ends, and the reaper ends the attempt
        log.exception("the worker failed", game=game)
    finally:
        connection.close()
    return AttemptEnd.UNKNOWN


def _run(attempt: "_RunningAttempt", running: RunningGames) -> AttemptEnd:
    connection.close()
    attempt.heartbeat.start()
    running.enter(attempt.heartbeat)
    try:
        return attempt.run()
    finally:
        attempt.heartbeat.close()
        running.leave(attempt.heartbeat)


def _claim(game: int, worker: int, running: RunningGames) -> "_RunningAttempt | None":
    """Claim a game and prepare an attempt at it, in one transaction.

    Return None if this worker must not play the game. If the game still waits, because
    this worker is drained or stops, its hint is given back to the other workers.
    """
    attempt = failure = None
    with transaction.atomic():
        claim = None if running.closing else attempts.claim(game, worker)
        if claim is None:
            if attempts.return_hint(game):
                running.refused.set()
            return None
        try:
            attempt = _prepare(claim, running)
        except Error:
            raise  # the database is away, and the game is still scheduled
        except Exception as error:  # noqa: BLE001 -- raised after the commit
            attempts.fail(claim, f"{type(error).__name__}: {error}")
            failure = error
    if failure is not None:
        raise failure
    return attempt


def _prepare(claim: Claim, running: RunningGames) -> "_RunningAttempt | None":
    """Read a claimed game; release it if this worker cannot play it."""
    seated = engine_adapter.load(claim.game)
    doubted = attempts.doubted_seats(claim)
    if fit(seated.needs, running.offered):
        return _RunningAttempt(claim, seated, doubted, running.open_player)
    # The hint came to the wrong worker. The next hint goes to a capable one.
    attempts.release(claim.game, claim.fence, "not for this worker")
    return None


class _RunningAttempt:
    """One attempt from its claim to its end."""

    def __init__(
        self, claim: Claim, game: Game, doubted: set[int], open_player: OpenPlayer
    ) -> None:
        self.claim = claim
        self.game = game
        self._claimed_at = time.monotonic()
        self._doubted = doubted
        self._open_player = open_player
        match = game.match
        self.heartbeat = Heartbeat(
            claim, match.seats, deadline_s=deadline_s(match.limits, match.seats)
        )

    def run(self) -> AttemptEnd:
        try:
            record = self._let_referee_play()
            result = engine_adapter.result(self.game, record)
        except Stopped:
            return self._give_up()
        except Exception as failure:  # the one boundary: our crash is not a bot's
            if self.heartbeat.stop_reason:
                # We killed the players, so the failure is a consequence of the stop.
                return self._give_up()
            if not isinstance(failure, ServiceFault):
                log.exception("the referee failed", game=self.claim.game)
            return self._fail(failure)
        self.heartbeat.close()
        if self.heartbeat.stop_reason:
            return self._give_up()
        try:
            return self._finish(result, self.heartbeat.outputs())
        except Error as refusal:
            # The database answered and refused, so a retry would not help.
            log.exception("the result cannot be stored", game=self.claim.game)
            return self._fail(refusal)

    def _let_referee_play(self) -> GameRecord:
        seat_players: list[SeatPlayer] = []
        with tracing.span("open players"), ExitStack() as opened:
            for seat in self.game.seats.all():
                player = self._open(seat)
                opened.callback(player.kill)
                seat_players.append(player)
            self.heartbeat.guard(seat_players)
            opened.pop_all()
        with tracing.span("referee"):
            return self._referee(seat_players)

    def _referee(self, seat_players: Sequence[SeatPlayer]) -> GameRecord:
        """Play the game, and count what that took."""
        match = self.game.match
        cpu_s = time.thread_time()
        try:
            record = referee.play(
                engine_adapter.start(match),
                seat_players,
                seed=match.seed,
                limits=match.limits,
                watch=self.heartbeat.watch,
            )
            TIMINGS.add(Timing.REFEREE, time.thread_time() - cpu_s)
            return record
        finally:
            starts = [player.output().started for player in seat_players]
            TIMINGS.add_starts(starts)
            game_trace.record_starts(self.game, starts)

    def _open(self, seat: Seat) -> SeatPlayer:
        if seat.blamed:
            return BlamedPlayer()
        strict_clock = seat.number in self._doubted
        limits = self.game.match.limits
        return self._open_player(seat.submission, limits, strict_clock=strict_clock)

    def _finish(
        self, result: FinishedGame, outputs: Sequence[SeatOutput]
    ) -> AttemptEnd:
        with tracing.span("finish"):
            written = _retry_while_database_is_away(
                lambda: attempts.finish(self.claim, result, outputs)
            )
        if written is None:
            return AttemptEnd.UNKNOWN
        TIMINGS.add(Timing.GAME, time.monotonic() - self._claimed_at)
        return AttemptEnd.FINISHED if written else AttemptEnd.LATE

    def _fail(self, failure: Exception) -> AttemptEnd:
        self.heartbeat.close()
        reason = f"{type(failure).__name__}: {failure}"
        seat = failure.seat if isinstance(failure, ServiceFault) else None
        outputs = self.heartbeat.outputs()
        written = _retry_while_database_is_away(
            lambda: attempts.fail(self.claim, reason, outputs, seat=seat)
        )
        return AttemptEnd.FAILED if written else AttemptEnd.UNKNOWN

    def _give_up(self) -> AttemptEnd:
        """Release a game that was stopped. A missed deadline is a failure instead."""
        self.heartbeat.close()
        reason = self.heartbeat.stop_reason
        if reason == DEADLINE:
            return self._fail(TimeoutError(reason))
        _retry_while_database_is_away(
            lambda: attempts.release(self.claim.game, self.claim.fence, reason)
        )
        return AttemptEnd.RELEASED


def _disconnect() -> None:
    """Close the connection itself, so that the pool opens another one.

    The connection may lead to a server that has become a read-only standby.
    """
    if connection.connection is not None:
        connection.connection.close()
    connection.close()


def _retry_while_database_is_away(write: Callable[[], bool]) -> bool | None:
    """Call `write` until the database answers; return its result.

    Return None after WRITE_TIMEOUT_S. By then the lease has ended.
    """
    give_up_at = time.monotonic() + WRITE_TIMEOUT_S
    pause = threading.Event()
    while True:
        try:
            return write()
        except DATABASE_AWAY as error:
            cut_off = statement_limits.met_by(error)
            log.warning("cannot write", error=str(error), **cut_off)
            _disconnect()
            if time.monotonic() > give_up_at:
                return None
            pause.wait(WRITE_RETRY_INTERVAL_S)
