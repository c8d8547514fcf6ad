"""A game that is played with the action strings of docs/contract.md.

This thin layer over the kernel adds strings and forfeits: the actions of seats, the log
of events, the prescribed answers of forfeited seats, and the result (docs/contract.md,
sections 3 to 6). It knows nothing of players, clocks or files.
"""

from typing import TypedDict

from engine import kernel, notation, refusals, view
from engine.errors import EngineError, IllegalAction
from engine.faults import EndReason, Fault
from engine.moves import (
    DECISIONS,
    END,
    KING_DUE,
    MASTER_NAMES,
    OVER,
    STACK,
    Decision,
)
from engine.rulesets import MAX_SEATS, Rules
from engine.setup import Setup

Event = dict[str, object]


class Result(TypedDict):
    """How a game ended: final scores and 1-based ranks by seat, and the reason."""

    scores: list[int]
    ranks: list[int]
    reason: EndReason


class Scoring(TypedDict):
    """The scoring of a phase by seat; `scores` are the totals after it."""

    phase: int
    castles: list[int]
    king: list[int]
    master: list[int]
    scores: list[int]


class TorresGame:
    """One game from the set-up to the result.

    `log` holds all events so far with nothing hidden: actions, scorings and forfeits in
    the form of docs/contract.md, section 8. `scoring` and `result` have the form of the
    replay (section 7).
    """

    def __init__(self, rules: Rules, setup: Setup) -> None:
        self.rules = rules
        self.setup = setup
        self.position = kernel.start(rules, setup)
        self.ply = 0  # actions played, automatic ones included
        self.log: list[Event] = []
        self.scoring: list[Scoring] = []
        self.scored = 0  # phases; those before the first position are not in `scoring`
        self.result: Result | None = None
        self.forfeited: list[int] = []  # in the order of time

    @classmethod
    def from_position(cls, rules: Rules, position: kernel.Position) -> "TorresGame":
        """Return a game that goes on from a position, of which it takes a copy.

        Its log and its scorings begin there. `setup` has the decks as they are now.
        """
        decks = [tuple(view.deck(position, pile)) for pile in range(rules.deck_count)]
        master = position.track.master
        name = MASTER_NAMES[master] if master >= 0 else None
        game = cls(rules, Setup(position.first, tuple(decks), name))
        game.position = position.copy()
        game.scored = position.track.scored
        if position.decision == OVER:
            game._finish(EndReason.COMPLETED)
        return game

    @property
    def over(self) -> bool:
        """True if the game has a result."""
        return self.result is not None

    @property
    def seat(self) -> int | None:
        """The seat that decides now; None if the game is over."""
        return None if self.over else self.position.seat

    @property
    def decision(self) -> Decision | None:
        """The decision that the seat has to make; None if the game is over."""
        return None if self.over else DECISIONS[self.position.decision]

    @property
    def turn_id(self) -> int:
        """A number that grows with each turn and each other decision.

        A `keep` belongs to its turn.
        """
        return self.position.turn_id

    def legal(self) -> list[str]:
        """Return the legal actions in ASCII order; none if the game is over."""
        return [] if self.over else notation.texts(self.position)

    def play(self, action: str, *, auto: bool = False) -> None:
        """Play an action for the seat that decides.

        `auto` marks the action in the log as the prescribed answer of a forfeited seat.
        Raises IllegalAction and changes nothing if the action is not legal now.
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

    def follow(self, entries: list[object], number: int) -> int:
        """Play a replay's entries from index `number` to the next scoring.

        Return the index of the next entry. Return -1 if an entry may be wrong; this
        game is then useless, and the replay has to be checked in a new one. The actions
        are missing in `log` and `ply`.
        """
        number = self.position.follow(entries, number, notation.MOVES, notation.move_of)
        if self.position.decision in (KING_DUE, OVER):
            self._close_phase()
        return number

    def _close_phase(self) -> None:
        """Record a new scoring if there is one, and the end of the game."""
        if self.position.track.scored > self.scored:
            self._record_scoring()
        if self.position.decision == OVER:
            self._finish(EndReason.COMPLETED)

    def _record_scoring(self) -> None:
        track = self.position.track
        start = MAX_SEATS * self.scored
        stop = start + self.rules.seats
        self.scored += 1
        record: Scoring = {
            "phase": self.scored,
            "castles": list(track.castle_points[start:stop]),
            "king": list(track.king_points[start:stop]),
            "master": list(track.master_points[start:stop]),
            "scores": list(track.totals[start:stop]),
        }
        self.scoring.append(record)
        self.log.append({"scoring": record})

    def forfeit(self, seat: int, reason: Fault) -> None:
        """Forfeit a seat. The game ends at once when only one seat is left.

        Raises EngineError if the seat does not exist, if it has forfeited before, or if
        the game is over.
        """
        if self.over:
            raise EngineError("the game is over, so no seat can forfeit")
        if seat not in range(self.rules.seats) or seat in self.forfeited:
            raise EngineError(
                f"seat {seat} cannot forfeit: it does not exist or has forfeited before"
            )
        self.forfeited.append(seat)
        self.log.append({"forfeit": {"seat": seat, "reason": reason}})
        if len(self.forfeited) == self.rules.seats - 1:
            self._finish(EndReason.LAST_STANDING)

    def _finish(self, reason: EndReason) -> None:
        scores = list(self.position.track.scores[: self.rules.seats])
        self.result = {"scores": scores, "ranks": self._ranks(scores), "reason": reason}

    def _ranks(self, scores: list[int]) -> list[int]:
        """Return the ranks by seat (rule 64; docs/contract.md, sections 5 and 6).

        Equal scores share a rank. Forfeited seats rank behind all others, and a later
        forfeit ranks better.
        """
        seats = range(self.rules.seats)
        standing_scores = [scores[seat] for seat in seats if seat not in self.forfeited]
        ranks = []
        for seat in seats:
            if seat in self.forfeited:
                ranks.append(len(seats) - self.forfeited.index(seat))
            else:
                ranks.append(1 + sum(score > scores[seat] for score in standing_scores))
        return ranks

    def automatic(self) -> list[str]:
        """Return the prescribed answer of a forfeited seat to the present decision.

        In a turn it is the first legal `end`, after the first `stack` if the seat has
        to take a stack before; for the king it is `king stay` if legal; otherwise it is
        the first legal action (docs/contract.md, section 6).
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
        raise AssertionError("in a turn an end or a stack is legal")  # pragma: no cover

    def _end_after(self, move: int) -> str:
        after = self.position.copy()
        after.perform(move)
        return notation.ending_texts(after, END)[0]

    def state(self, seat: int | None = None) -> dict[str, object]:
        """Return the state as a seat sees it, or with nothing hidden if it is None."""
        return view.state(
            self.position, self.rules, self.forfeited, seat, over=self.over
        )

    def copy(self) -> "TorresGame":
        """Return an independent game in the same state."""
        other = TorresGame.__new__(TorresGame)
        other.rules = self.rules
        other.setup = self.setup
        other.position = self.position.copy()
        other.ply = self.ply
        other.log = list(self.log)
        other.scoring = list(self.scoring)
        other.scored = self.scored
        other.result = self.result
        other.forfeited = list(self.forfeited)
        return other


def seen_by(event: Event, seat: int) -> Event:
    """Return an event as a seat sees it: the card that another seat keeps is hidden."""
    action = event.get("action")
    if event.get("seat") == seat or not isinstance(action, str):
        return event
    word, _, rest = action.partition(" ")
    if word != "keep":
        return event
    return event | {"action": f"keep ? {rest.rpartition(' ')[2]}"}
