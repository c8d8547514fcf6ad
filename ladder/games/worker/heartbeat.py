"""What goes on beside a game: its lease is renewed and its answers are stored.

The thread that plays never touches the database, so a slow or absent database does not
slow a game, and no transaction is open while a bot thinks.
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
from ladder.runner.verdict import SeatOutput

BEAT_S = settings.TORRES_LEASE_SECONDS / 3
FLUSH_S = 0.25
SLACK_S = settings.TORRES_LEASE_SECONDS / 6
"""Stop so long before the lease is over by our own count, if nobody answers."""

log = structlog.get_logger()


class Stopped(Exception):
    """The game is not to be played on: the lease is lost, or the worker stops."""


class SeatPlayer(Player, Protocol):
    """A player that keeps what its bot leaves behind."""

    def output(self) -> SeatOutput:
        """Return stderr and verdict of the bot; empty until it was killed."""


class Heartbeat(threading.Thread):
    """Beats for one claim until it is closed; ends the players when it must not go on.

    `stopped` says why it did, once it did. A game that was stopped may be handed back
    or failed, and is never finished: its players were killed by us.
    """

    def __init__(self, claim: Claim, seats: int, *, deadline_s: float) -> None:
        super().__init__(name=f"heart of game {claim.game}", daemon=True)
        self.claim = claim
        self._notes: list[list[dict[str, Any]]] = [[] for _ in range(seats)]
        self.stopped = ""
        self._players: Sequence[SeatPlayer] = ()
        self._answers: list[AnswerRecord] = []
        self._wake = threading.Condition()
        self._closed = False
        now = time.monotonic()
        self._deadline = now + deadline_s
        self._beaten = now

    def guard(self, players: Sequence[SeatPlayer]) -> None:
        """Name the players that end with the lease."""
        self._players = players

    def watch(self, move: Move) -> None:
        """Take a move of the running game (the referee's `watch`)."""
        if self.stopped:
            raise Stopped(self.stopped)
        answer = move.answer
        said = AnswerRecord(
            index=move.index,
            seat=move.seat,
            actions=move.actions,
            ms=answer.ms if answer else 0.0,
            auto=answer is None,
        )
        if answer and answer.note:
            note = {"move": move.index, "note": answer.note}
            self._notes[move.seat].append(note)
        with self._wake:
            self._answers.append(said)

    def outputs(self) -> list[SeatOutput]:
        """Return what each seat left behind; none if a player could not be opened."""
        return [
            replace(player.output(), notes=notes)
            for player, notes in zip(self._players, self._notes, strict=False)
        ]

    def stop(self, why: str) -> None:
        """End the game now, from any thread. Said twice, the first reason stays."""
        with self._wake:
            self.stopped = self.stopped or why
            self._wake.notify()

    def close(self) -> None:
        """Beat no more; the caller goes on alone. Safe to call twice."""
        with self._wake:
            self._closed = True
            self._wake.notify()
        self.join()

    def run(self) -> None:
        try:
            while not self._rest():
                self._look()
                if self.stopped:
                    self._end_players()
        finally:
            connection.close()

    def _end_players(self) -> None:
        for player in self._players:
            try:
                player.kill()
            except (OSError, ValueError) as error:
                # It is ending anyway: the playing thread does the same meanwhile.
                log.debug("player was ending", game=self.claim.game, error=str(error))

    def _rest(self) -> bool:
        """Wait for the next look; True if the heart was closed."""
        with self._wake:
            if not self._closed and not self.stopped:
                self._wake.wait(FLUSH_S)
            elif not self._closed:
                self._wake.wait(FLUSH_S / 10)
            return self._closed

    def _look(self) -> None:
        now = time.monotonic()
        if now > self._deadline:
            self.stop("deadline: the game took too long")
        if now - self._beaten > attempts.LEASE.total_seconds() - SLACK_S:
            self.stop("the database did not answer")
        if self.stopped:
            return
        try:
            self._flush()
            if now - self._beaten >= BEAT_S:
                if not attempts.beat(self.claim):
                    self.stop("the lease was lost")
                self._beaten = now
        except Error as error:
            # Looked at again soon; the count above ends it in time.
            log.warning("heart cannot write", game=self.claim.game, error=str(error))
            connection.close()

    def _flush(self) -> None:
        with self._wake:
            answers = list(self._answers)
        if answers:
            attempts.store(self.claim, answers)
            with self._wake:
                del self._answers[: len(answers)]
            connection.close()
