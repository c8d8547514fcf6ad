"""The lease keeper of a rated game, which also stores the answers of the bots.

The thread that plays puts each answer into a buffer, and the keeper stores them.
"""

import threading
from dataclasses import replace
from functools import partial

from engine.referee import Move
from ladder.games import attempts
from ladder.games.attempts import AnswerRecord, Claim
from ladder.games.worker.lease_keeper import LeaseKeeper
from torres.runner.verdict import SeatOutput

FLUSH_INTERVAL_S = 0.25


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
