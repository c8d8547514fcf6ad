"""The thread that renews a lease while a game is played, and may end the players.

The thread that plays a game never waits for the database. So a slow or absent database
does not slow a game, and no transaction is open while a bot thinks. `LeaseKeeper` does
not know how a game is played; rated games and games by hand both use it. `Heartbeat` is
the one of rated games, and stores the answers of the bots, too.
"""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Protocol

import structlog
from django.conf import settings
from django.db import Error, connection

from engine.referee import Move, Player
from ladder.common import statement_limits
from ladder.games import attempts
from ladder.games.attempts import AnswerRecord, Claim
from torres.runner.verdict import SeatOutput

BEAT_S = 1.0
# Spectators' streams look as often.
FLUSH_INTERVAL_S = 0.5
RENEW_INTERVAL_S = settings.TORRES_LEASE_SECONDS / 3
# If the database does not answer, a game stops this long before its lease ends.
SAFETY_MARGIN_S = settings.TORRES_LEASE_SECONDS / 6
# Used after the game was stopped, until the thread that plays has noticed.
KILL_INTERVAL_S = 0.025

DEADLINE = "deadline: the game took too long"

log = structlog.get_logger()


class SeatPlayer(Player, Protocol):
    """A player that keeps what its bot leaves behind."""

    def output(self) -> SeatOutput:
        """Return stderr and verdict of the bot; empty until it was killed."""


class LeaseKeeper(threading.Thread):
    """Keeps one lease until it is closed, and ends the players if it must.

    Every `beat_s` seconds the thread does this:

    1. Stop the game if its deadline has passed, or if the lease would soon end because
       the database has not answered.
    2. Call `beat`. After RENEW_INTERVAL_S, call `renew`, and stop the game if it
       returns False: the lease is lost.
    3. If the game is stopped, kill the players, so that the thread that plays ends.

    `stopped` is set when the game must not go on, and `stop_reason` then says why.
    """

    def __init__(
        self,
        name: str,
        renew: Callable[[], bool],
        *,
        deadline_s: float,
        beat_s: float = BEAT_S,
    ) -> None:
        super().__init__(name=f"lease of {name}", daemon=True)
        self.stopped = threading.Event()
        self.stop_reason = ""
        self._renew = renew
        self._beat_s = beat_s
        self._players: Sequence[SeatPlayer] = ()
        self._wake = threading.Condition()
        self._closed = False
        self._renewed_at = time.monotonic()
        self._deadline = self._renewed_at + deadline_s

    def guard(self, players: Sequence[SeatPlayer]) -> None:
        """Set the players that are killed if the game is stopped."""
        self._players = players

    def stop(self, reason: str) -> None:
        """End the game now, from any thread. Only the first reason is kept."""
        with self._wake:
            self.stop_reason = self.stop_reason or reason
            self.stopped.set()
            self._wake.notify()

    def close(self) -> None:
        """End the thread and wait for its end. Idempotent."""
        with self._wake:
            self._closed = True
            self._wake.notify()
        self.join()

    def run(self) -> None:
        try:
            while not self._wait():
                self._keep()
                if self.stopped.is_set():
                    self._kill_players()
        finally:
            connection.close()

    def beat(self) -> None:
        """Do more in each beat. It may raise an error of the database."""

    def _wait(self) -> bool:
        """Wait until the next beat; return True if the keeper was closed."""
        with self._wake:
            if not self._closed:
                stopped = self.stopped.is_set()
                self._wake.wait(KILL_INTERVAL_S if stopped else self._beat_s)
            return self._closed

    def _keep(self) -> None:
        now = time.monotonic()
        since_renewal_s = now - self._renewed_at
        if now > self._deadline:
            self.stop(DEADLINE)
        if since_renewal_s > settings.TORRES_LEASE_SECONDS - SAFETY_MARGIN_S:
            self.stop("the database did not answer")
        if self.stopped.is_set():
            return
        try:
            self.beat()
            if since_renewal_s >= RENEW_INTERVAL_S:
                if not self._renew():
                    self.stop("the lease was lost")
                self._renewed_at = now
        except Error as error:
            # The next beat tries again, until the lease is about to end.
            cut_off = statement_limits.met_by(error)
            log.warning(
                "cannot renew lease", thread=self.name, error=str(error), **cut_off
            )
        connection.close()

    def _kill_players(self) -> None:
        for player in self._players:
            try:
                player.kill()
            except (OSError, ValueError) as error:
                # The thread that plays may be ending the same player now.
                log.debug("player was ending", thread=self.name, error=str(error))


class Stopped(Exception):
    """The game must not go on: the lease is lost, or the worker stops."""


class AnswerBuffer:
    """The answers that are not stored yet. Two threads use it at once."""

    def __init__(self) -> None:
        self._answers: list[AnswerRecord] = []
        self._lock = threading.Lock()

    def add(self, answer: AnswerRecord) -> None:
        with self._lock:
            self._answers.append(answer)

    def pending(self) -> list[AnswerRecord]:
        with self._lock:
            return list(self._answers)

    def drop(self, count: int) -> None:
        """Remove the oldest answers, because they are stored now."""
        with self._lock:
            del self._answers[:count]


class Heartbeat(LeaseKeeper):
    """Keeps one claim alive until it is closed, and stores the answers of its game.

    A stopped game may be released or failed but never finished, because its players
    were killed by us.
    """

    def __init__(self, claim: Claim, seats: int, *, deadline_s: float) -> None:
        super().__init__(
            f"game {claim.game}",
            partial(attempts.renew_lease, claim),
            deadline_s=deadline_s,
            beat_s=FLUSH_INTERVAL_S,
        )
        self.claim = claim
        self._notes: list[list[dict[str, object]]] = [[] for _ in range(seats)]
        self._answers = AnswerBuffer()

    def watch(self, move: Move) -> None:
        """Take a move of the running game (the referee's `watch`). Raises Stopped."""
        if self.stop_reason:
            raise Stopped(self.stop_reason)
        answer = move.answer
        if answer and answer.note:
            note = {"move": move.index, "note": answer.note}
            self._notes[move.seat].append(note)
        self._answers.add(
            AnswerRecord(
                index=move.index,
                seat=move.seat,
                actions=move.actions,
                ms=answer.ms if answer else 0.0,
                auto=answer is None,
            )
        )

    def outputs(self) -> list[SeatOutput]:
        """Return what each seat left behind; none if a player could not be opened."""
        return [
            replace(player.output(), notes=notes)
            for player, notes in zip(self._players, self._notes, strict=False)
        ]

    def beat(self) -> None:
        """Store the answers that are not stored yet."""
        answers = self._answers.pending()
        if answers:
            attempts.store_answers(self.claim, answers)
            self._answers.drop(len(answers))
