"""Play a recorded game again, with a bot in place of one of its players.

The other seats answer as they did. The bot gets the same questions,
the same seed and the same clock as in the game. At its first answer that differs the
comparison ends, because from there on it would be another game.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from engine import referee
from engine.documents import PlayerEntry, Replay
from engine.faults import EndReason, Fault
from engine.game import TorresGame
from engine.referee import Answer, Ask, Hello, Player, PlayerFault, QuietPlayer, serving
from engine.replay import game_at, verify
from engine.replay_format import charged_ms, open_game
from torres.common.quoting import printable

_ILLEGAL = "(the illegal action that the replay does not contain)"


@dataclass(frozen=True, slots=True)
class RecordedAnswer:
    """One answer of a seat in a replay. `ms` is None if the replay has no times.

    `illegal` is true if the seat forfeited with the next action of this answer.
    """

    move: int
    actions: list[str]
    ms: float | None
    illegal: bool


@dataclass(frozen=True, slots=True)
class RecordedForfeit:
    """The forfeit of a seat in a replay, before the move with the index `move`."""

    move: int
    reason: Fault


Recorded = RecordedAnswer | RecordedForfeit


@dataclass(frozen=True, slots=True)
class Difference:
    """The first decision in which a bot did not do what was recorded.

    `ask` is the question, or None at the start. `given` is the answer of the bot as a
    list of actions, or the fault that it made.
    """

    ask: Ask | None
    recorded: Recorded | None
    given: list[str] | PlayerFault
    given_ms: float | None

    def where(self) -> str:
        """Return the decision in words."""
        if self.ask is None:
            return "the start of the bot"
        state = self.ask.state
        return (
            f"{self.ask.decision} at ply {self.ask.ply}, phase {state['phase']}, round"
            f" {state['round']}"
        )

    def recorded_text(self) -> str:
        """Return what the seat did in the game, in words."""
        match self.recorded:
            case RecordedAnswer(_, actions, ms, illegal):
                time = "" if ms is None else f" ({ms:.1f} ms)"
                tail = ", then an illegal action" if illegal else ""
                return f"{', '.join(actions)}{tail}{time}"
            case RecordedForfeit(_, reason):
                return f"forfeit: {reason}"
            case _:
                return "the bot started" if self.ask is None else "nothing"

    def given_text(self) -> str:
        """Return what the bot did now, in words that are safe to print."""
        if isinstance(self.given, PlayerFault):
            return f"forfeit: {self.given.reason}: {printable(self.given.detail)}"
        time = "" if self.given_ms is None else f" ({self.given_ms:.1f} ms)"
        return f"{', '.join(map(printable, self.given))}{time}"


@dataclass(slots=True)
class RepeatedGame:
    """The result of playing a recorded game again with a local bot.

    `decisions` counts the answers that were the same. `recorded_ms` and `given_ms` are
    their thinking times, in all. `difference` is None if all answers were the same.
    """

    decisions: int = 0
    recorded_ms: float = 0.0
    given_ms: float = 0.0
    difference: Difference | None = None


def recorded_of(replay: Replay, seat: int) -> deque[Recorded]:
    """Return what a seat did in a valid replay, in the order of time."""
    events: list[tuple[int, int, Recorded]] = []
    forfeits = {
        forfeit["before_move"]: Fault(forfeit["reason"])
        for forfeit in replay["forfeits"]
        if forfeit["seat"] == seat
    }
    for index, entry in enumerate(replay["moves"]):
        if entry["seat"] != seat or entry.get("auto"):
            continue
        illegal = forfeits.get(index + 1) == Fault.ILLEGAL_ACTION
        answer = RecordedAnswer(index, entry["actions"], charged_ms(entry), illegal)
        events.append((index, 1, answer))
    for before, reason in forfeits.items():
        events.append((before, 0, RecordedForfeit(before, reason)))
    return deque(event for _, _, event in sorted(events, key=lambda row: row[:2]))


class RecordedPlayer(QuietPlayer):
    """Answers as a seat did in a replay, and forfeits where that seat forfeited."""

    def __init__(self, events: deque[Recorded]) -> None:
        self.events = events

    def start(self, hello: Hello) -> None:
        """Forfeit if the seat forfeited at its start."""
        match self.next():
            case RecordedForfeit(0, reason) if reason != Fault.ILLEGAL_ACTION:
                raise PlayerFault(reason, "as recorded")

    def next(self) -> Recorded | None:
        """Return what the seat did next, or None if it did nothing more."""
        return self.events[0] if self.events else None

    def decide(self, ask: Ask) -> Answer:
        """Return the recorded answer. Raises PlayerFault for a recorded forfeit."""
        match self.events.popleft():
            case RecordedForfeit(_, reason):
                raise PlayerFault(reason, "as recorded")
            case RecordedAnswer(_, actions, ms, illegal):
                tail = [_ILLEGAL] if illegal else []
                return Answer([*actions, *tail], None, ms or 0.0)


@dataclass(slots=True)
class ComparedPlayer:
    """Asks a bot, compares its answers with the recorded ones, and plays those."""

    bot: Player
    recorded: RecordedPlayer
    last_move: int
    comparison: RepeatedGame = field(default_factory=RepeatedGame)

    def start(self, hello: Hello) -> None:
        """Start the bot. It may fail only if the recorded seat did, too."""
        expected = self.recorded.next()
        failed = isinstance(expected, RecordedForfeit) and expected.move == 0
        try:
            self.bot.start(hello)
        except PlayerFault as fault:
            if not failed or fault.reason != cast(RecordedForfeit, expected).reason:
                self._differ(None, expected, fault, None)
        self.recorded.start(hello)

    def decide(self, ask: Ask) -> Answer:
        """Ask the bot, and return the recorded answer."""
        if self.comparison.difference is None:
            self._compare(ask)
        return self.recorded.decide(ask)

    def _compare(self, ask: Ask) -> None:
        expected = self.recorded.next()
        try:
            answer = self.bot.decide(ask)
            actions = _actions(ask, answer)
        except PlayerFault as fault:
            same = isinstance(expected, RecordedForfeit)
            if not same or fault.reason != cast(RecordedForfeit, expected).reason:
                self._differ(ask, expected, fault, None)
            return
        if not self._is_same(expected, actions, ask):
            self._differ(ask, expected, actions, answer.ms)
            return
        self.comparison.decisions += 1
        self.comparison.given_ms += answer.ms
        if isinstance(expected, RecordedAnswer):
            self.comparison.recorded_ms += expected.ms or 0.0

    def _is_same(self, expected: Recorded | None, given: list[str], ask: Ask) -> bool:
        match expected:
            case RecordedAnswer(move, actions, _, illegal):
                head = given[: len(actions)] == actions
                # The replay does not contain actions after the end of the game.
                more = illegal or move == self.last_move
                return (
                    head
                    and (len(given) > len(actions) or not illegal)
                    and (more or len(given) == len(actions))
                )
            case RecordedForfeit(_, Fault.ILLEGAL_ACTION):
                return given[0] not in ask.legal
            case _:
                return False

    def _differ(
        self,
        ask: Ask | None,
        expected: Recorded | None,
        given: list[str] | PlayerFault,
        ms: float | None,
    ) -> None:
        self.comparison.difference = Difference(ask, expected, given, ms)
        self.bot.kill()

    def forfeit(self, reason: Fault, detail: str) -> None:
        """Send the recorded messages to the bot again."""
        if self.comparison.difference is None:
            self.bot.forfeit(reason, detail)

    def end(self, scores: list[int], ranks: list[int], reason: EndReason) -> None:
        """Tell the bot the result."""
        if self.comparison.difference is None:
            self.bot.end(scores, ranks, reason)

    def kill(self) -> None:
        """Kill the bot."""
        self.bot.kill()


def _actions(ask: Ask, answer: Answer) -> list[str]:
    """Return an answer as a list of actions. Raises PlayerFault for a wrong index."""
    if answer.index is None:
        return answer.actions or []
    if answer.index >= len(ask.legal):
        raise PlayerFault(
            Fault.PROTOCOL, f"index {answer.index} of {len(ask.legal)} legal actions"
        )
    return [ask.legal[answer.index]]


def compare(
    replay: Replay, seat: int, bot: Player, limits: dict[str, int]
) -> RepeatedGame:
    """Play a valid replay again with `bot` in a seat, up to the first difference.

    `limits` are those of the game: the replay does not contain them. Raises
    InvalidReplay, and ServiceFault if this machine fails.
    """
    verify(replay)
    players: list[Player] = [
        RecordedPlayer(recorded_of(replay, number)) for number in range(replay["seats"])
    ]
    compared = ComparedPlayer(
        bot, cast(RecordedPlayer, players[seat]), len(replay["moves"]) - 1
    )
    players[seat] = compared
    referee.play(
        open_game(replay), players, seed=str(replay.get("seed", "")), limits=limits
    )
    return compared.comparison


def ask_at(
    replay: Replay, ply: int, bot: Player, limits: dict[str, int]
) -> tuple[TorresGame, Answer]:
    """Put the question at one ply of a replay to a bot; return the game and the answer.

    The bot is started for this one question. It gets all events so far and a full
    clock. Raises InvalidReplay, PlayerFault, and ServiceFault.
    """
    game = game_at(replay, ply)
    seat = game.seat
    assert seat is not None  # an action follows in the replay
    hello = referee.hello_of(game, seat, str(replay.get("seed", "")), limits)
    ask = referee.ask_of(game, seat, referee.SeatClocks(game, limits))
    try:
        bot.start(hello)
        with serving(seat):
            answer = bot.decide(ask)
        actions = _actions(ask, answer)
    finally:
        bot.kill()
    return game, replace(answer, actions=actions, index=None)


def own_seats(players: Sequence[PlayerEntry], digest: str) -> list[int]:
    """Return the seats of a replay in which exactly these files played."""
    return [
        seat for seat, player in enumerate(players) if player.get("digest") == digest
    ]
