"""The friendly door: a game played with the contract's strings.

A thin coat over the kernel that adds what is about seats and words: forfeits, the log,
the prescribed answers of forfeited seats, and the result (contract.md, sections 3 to
6).
"""

from typing import TypedDict

from engine import kernel, notation, refusals, view
from engine.errors import EngineError, IllegalAction
from engine.faults import EndReason, Fault
from engine.moves import DECISIONS, END, KING_DUE, OVER, STACK, Decision
from engine.rulesets import Rules
from engine.setup import Setup

Event = dict[str, object]


class Result(TypedDict):
    """How a game ended, by seat: final scores, ranks from 1, and why it ended."""

    scores: list[int]
    ranks: list[int]
    reason: EndReason


class TorresGame:
    """One game from the set-up to the result.

    `log` holds all events so far, everything in view: actions, scorings and forfeits as
    contract.md, section 8, writes them. `scoring` and `result` are those of the replay.
    """

    def __init__(self, rules: Rules, setup: Setup) -> None:
        self.rules = rules
        self.setup = setup
        self.position = kernel.start(rules, setup)
        self.ply = 0  # actions played, automatic ones included
        self.log: list[Event] = []
        self.scoring: list[dict[str, object]] = []
        self.result: Result | None = None
        self.forfeited: list[int] = []  # in the order of time

    @property
    def over(self) -> bool:
        return self.result is not None

    @property
    def seat(self) -> int | None:
        """The seat that decides now; None when the game is over."""
        return None if self.over else self.position.seat

    @property
    def decision(self) -> Decision | None:
        """What is to be decided (contract.md, section 3); None when it is over."""
        return None if self.over else DECISIONS[self.position.decision]

    @property
    def turn_id(self) -> int:
        """Grows with each turn or other decision; a `keep` belongs to its turn."""
        return self.position.turn_id

    def legal(self) -> list[str]:
        """Return the legal actions in ASCII order; none when the game is over."""
        return [] if self.over else notation.texts(self.position)

    def play(self, action: str, *, auto: bool = False) -> None:
        """Play an action for the seat that decides.

        `auto` marks it in the log as the prescribed answer of a forfeited seat. Raises
        IllegalAction and changes nothing if it is no legal action now.
        """
        position = self.position
        seat = position.seat
        if self.result is not None:
            raise IllegalAction(action, "the game is over (rule 64)")
        move = notation.move_of(position, action)
        if move is None or not position.attempt(move):
            raise IllegalAction(action, refusals.reason(position, action))
        event: Event = {"seat": seat, "action": action}
        if auto:
            event["auto"] = True
        self.log.append(event)
        self.ply += 1
        if position.decision in (KING_DUE, OVER):
            self._close_phase()

    def follow(self, entries: list[object], done: int) -> int:
        """Play a replay's entries from number `done` on, as far as the next scoring.

        Returns the number of the next entry, or -1 where one is not plainly right; only
        another game can tell then what is wrong. Actions are not noted: `log` and `ply`
        lack them.
        """
        done = self.position.follow(entries, done, notation.MOVES, notation.move_of)
        if self.position.decision in (KING_DUE, OVER):
            self._close_phase()
        return done

    def _close_phase(self) -> None:
        """Note a scoring if there was one, and the end."""
        if self.position.track.scored > len(self.scoring):
            self._record_scoring()
        if self.position.decision == OVER:
            self._finish(EndReason.COMPLETED)

    def _record_scoring(self) -> None:
        track = self.position.track
        start = 4 * len(self.scoring)
        stop = start + self.rules.seats
        record: dict[str, object] = {
            "phase": len(self.scoring) + 1,
            "castles": list(track.castle_points[start:stop]),
            "king": list(track.king_points[start:stop]),
            "master": list(track.master_points[start:stop]),
            "scores": list(track.totals[start:stop]),
        }
        self.scoring.append(record)
        self.log.append({"scoring": record})

    def forfeit(self, seat: int, reason: Fault) -> None:
        """Return a seat loses its say; the game ends at once when one is left.

        Raises EngineError if there is no such seat, if it forfeited, or after the end.
        """
        if self.over:
            raise EngineError("the game is over: no seat can forfeit")
        if seat not in range(self.rules.seats) or seat in self.forfeited:
            raise EngineError(f"seat {seat} cannot forfeit: unknown, or it did already")
        self.forfeited.append(seat)
        self.log.append({"forfeit": {"seat": seat, "reason": reason}})
        if len(self.forfeited) == self.rules.seats - 1:
            self._finish(EndReason.LAST_STANDING)

    def _finish(self, reason: EndReason) -> None:
        scores = list(self.position.track.scores[: self.rules.seats])
        self.result = {"scores": scores, "ranks": self._ranks(scores), "reason": reason}

    def _ranks(self, scores: list[int]) -> list[int]:
        """By score, equal ones sharing; behind them the forfeited, the latest first."""
        seats = range(self.rules.seats)
        standing = [scores[seat] for seat in seats if seat not in self.forfeited]
        ranks = []
        for seat in seats:
            if seat in self.forfeited:
                ranks.append(len(seats) - self.forfeited.index(seat))
            else:
                ranks.append(1 + sum(score > scores[seat] for score in standing))
        return ranks

    def automatic(self) -> list[str]:
        """Return the prescribed answer of a forfeited seat to the decision now due.

        The first legal action; in a turn the first `end`, after the first `stack` where
        one is due; `king stay` where legal (contract.md, section 6).
        """
        legal = self.legal()
        if self.decision is Decision.KING and legal[-1] == "king stay":
            return ["king stay"]
        if self.decision is not Decision.TURN:
            return legal[:1]
        moves = self.position.legal()
        for kind in (END, STACK):
            for action, move in zip(legal, moves, strict=True):
                if move >> 16 == kind:
                    return [action] if kind == END else [action, self._end_after(move)]
        raise AssertionError("a turn can end, or a stack is due")  # pragma: no cover

    def _end_after(self, move: int) -> str:
        after = self.position.copy()
        after.perform(move)
        return notation.ending_texts(after, END)[0]

    def state(self, seat: int | None = None) -> dict[str, object]:
        """Return the state that a seat sees, or everything in view (section 8)."""
        return view.state(
            self.position, self.rules, self.forfeited, seat, over=self.over
        )

    def copy(self) -> "TorresGame":
        """Return a game of its own in the same state."""
        other = TorresGame.__new__(TorresGame)
        other.rules, other.setup = self.rules, self.setup
        other.position = self.position.copy()
        other.ply = self.ply
        other.log = list(self.log)
        other.scoring = list(self.scoring)
        other.result = self.result
        other.forfeited = list(self.forfeited)
        return other


def seen_by(event: Event, seat: int) -> Event:
    """Return an event as a seat sees it: what another keeps is hidden (section 8)."""
    action = event.get("action")
    if event.get("seat") == seat or not isinstance(action, str):
        return event
    word, _, rest = action.partition(" ")
    if word != "keep":
        return event
    return event | {"action": f"keep ? {rest.rpartition(' ')[2]}"}
