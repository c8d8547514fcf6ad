"""The thread that runs beside each game: it renews the lease and stores answers.

The thread that plays a game never uses the database. So a slow or absent database
does not slow a game, and no transaction is open while a bot thinks. This module does
not know how a game is played.
"""

import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol

import structlog
from django.conf import settings
from django.db import Error, connection

from engine.referee import Move, Player
from ladder.games import attempts
from ladder.games.attempts import AnswerRecord, Claim
from torres.runner.verdict import SeatOutput

RENEW_INTERVAL_S = settings.TORRES_LEASE_SECONDS / 3
FLUSH_INTERVAL_S = 0.25
# Used after the game was stopped, until the thread that plays has noticed.
KILL_INTERVAL_S = FLUSH_INTERVAL_S / 10
# If the database does not answer, a game stops this long before its lease ends.
SAFETY_MARGIN_S = settings.TORRES_LEASE_SECONDS / 6

DEADLINE = "deadline: the game took too long"

log = structlog.get_logger()


class Stopped(Exception):
    """The game must not go on: the lease is lost, or the worker stops."""


class SeatPlayer(Player, Protocol):
    """A player that keeps what its bot leaves behind."""

    def output(self) -> SeatOutput:
        """Return stderr and verdict of the bot; empty until it was killed."""


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


class Heartbeat(threading.Thread):
    """Keeps one claim alive until it is closed, and ends the players if it must.

    Every FLUSH_INTERVAL_S the thread does this:

    1. Stop the game if its deadline has passed, or if the lease would soon end because
       the database has not answered.
    2. Store the answers that are not stored yet.
    3. After RENEW_INTERVAL_S, renew the lease. Stop the game if the lease is lost.
    4. If the game is stopped, kill the players, so that the thread that plays ends.

    `stop_reason` is "" until the game is stopped. A stopped game may be released or
    failed but never finished, because its players were killed by us.
    """

    def __init__(self, claim: Claim, seats: int, *, deadline_s: float) -> None:
        super().__init__(name=f"heartbeat of game {claim.game}", daemon=True)
        self.claim = claim
        self.stop_reason = ""
        self._notes: list[list[dict[str, Any]]] = [[] for _ in range(seats)]
        self._players: Sequence[SeatPlayer] = ()
        self._answers = AnswerBuffer()
        self._wake = threading.Condition()
        self._closed = False
        now = time.monotonic()
        self._deadline = now + deadline_s
        self._renewed_at = now

    def guard(self, players: Sequence[SeatPlayer]) -> None:
        """Set the players that are killed if the game is stopped."""
        self._players = players

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

    def stop(self, reason: str) -> None:
        """End the game now, from any thread. Only the first reason is kept."""
        with self._wake:
            self.stop_reason = self.stop_reason or reason
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
                self._beat()
                if self.stop_reason:
                    self._kill_players()
        finally:
            connection.close()

    def _wait(self) -> bool:
        """Wait until the next beat; return True if the heartbeat was closed."""
        with self._wake:
            if not self._closed:
                stopped = bool(self.stop_reason)
                self._wake.wait(KILL_INTERVAL_S if stopped else FLUSH_INTERVAL_S)
            return self._closed

    def _beat(self) -> None:
        now = time.monotonic()
        since_renewal_s = now - self._renewed_at
        if now > self._deadline:
            self.stop(DEADLINE)
        if since_renewal_s > attempts.LEASE.total_seconds() - SAFETY_MARGIN_S:
            self.stop("the database did not answer")
        if self.stop_reason:
            return
        try:
            self._store_answers()
            if since_renewal_s >= RENEW_INTERVAL_S:
                if not attempts.renew_lease(self.claim):
                    self.stop("the lease was lost")
                self._renewed_at = now
        except Error as error:
            # The next beat tries again, until the lease is about to end.
            log.warning("cannot renew lease", game=self.claim.game, error=str(error))
            connection.close()

    def _store_answers(self) -> None:
        answers = self._answers.pending()
        if answers:
            attempts.store_answers(self.claim, answers)
            self._answers.drop(len(answers))
            connection.close()

    def _kill_players(self) -> None:
        for player in self._players:
            try:
                player.kill()
            except (OSError, ValueError) as error:
                # The thread that plays may be ending the same player now.
                log.debug("player was ending", game=self.claim.game, error=str(error))
