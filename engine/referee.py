"""The referee: asks the seats in turn, checks their answers, keeps their clocks.

It knows players, not processes: a player is any object that answers a decision and
says what thinking time that cost. It knows no JSON, no database and no wall clock.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from engine.errors import IllegalAction
from engine.faults import EndReason, Fault
from engine.game import Result, TorresGame, seen_by
from engine.moves import Decision
from engine.replay import document
from engine.setup import derive_seed

PROTOCOL = "torres/1"


class PlayerFault(Exception):
    """The player broke the rules of conduct: its seat forfeits.

    ``detail`` is one sentence for the owner of the bot.
    """

    def __init__(self, reason: Fault, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


class ServiceFault(Exception):
    """Our own failure (a lost worker, a full disk): the game is played again."""


@dataclass(frozen=True, slots=True)
class Ask:
    """One question to one seat.

    ``events`` is what happened since the seat was last told, as it may see it.
    ``move_ms`` and ``bank_ms`` are what is left of its clock now, in milliseconds
    of thinking time; the player's side ends the thought when both are used up.
    """

    decision: Decision
    ply: int
    state: dict[str, Any]
    events: list[dict[str, Any]]
    legal: list[str]
    move_ms: float
    bank_ms: float


@dataclass(slots=True)  # frozen, it would take twice as long to make
class Answer:
    """What a player answered: ``actions``, or the ``index`` of a legal action.

    ``ms`` is the charged thinking time; ``cpu_ms`` and ``wall_ms`` are what it was
    made of, kept with the move so that a charge can be checked.
    """

    actions: list[str] | None
    index: int | None
    ms: float
    cpu_ms: float = 0.0
    wall_ms: float = 0.0
    note: str | None = None


class Player(Protocol):
    """One seat's voice. ``start`` and ``decide`` raise PlayerFault or ServiceFault."""

    def start(self, hello: dict[str, Any]) -> None:
        """Launch, say hello and wait for "ready" within the limits in ``hello``."""

    def decide(self, ask: Ask) -> Answer:
        """Answer one question, within ``move_ms + bank_ms`` of thinking time."""

    def forfeit(self, reason: Fault, detail: str) -> None:
        """Hear that the seat lost its say, and end. Never raises, never waits long."""

    def end(self, scores: list[int], ranks: list[int], reason: EndReason) -> None:
        """Hear the result, and end."""

    def kill(self) -> None:
        """End at once; nothing of the player survives. May be called twice."""


@dataclass(frozen=True, slots=True)
class Move:
    """One entry of the replay's ``moves``, as it is made.

    ``answer`` is what the player said and what it cost, or None where the referee
    answered for a seat that forfeited. ``actions`` are those that stand.
    """

    index: int
    seat: int
    actions: list[str]
    answer: Answer | None

    def entry(self) -> dict[str, Any]:
        """Return it as the replay writes it (contract, section 7)."""
        entry: dict[str, Any] = {"seat": self.seat, "actions": self.actions}
        if self.answer is None:
            return entry | {"auto": True}
        return entry | {"ms": round(self.answer.ms, 1)}


@dataclass(frozen=True, slots=True)
class Forfeit:
    """A seat lost its say before the move with index ``before_move``."""

    seat: int
    before_move: int
    reason: Fault
    detail: str

    def entry(self) -> dict[str, Any]:
        """Return it as the replay writes it; the detail is the owner's alone."""
        return {
            "seat": self.seat,
            "before_move": self.before_move,
            "reason": self.reason,
        }


@dataclass(slots=True)
class GameRecord:
    """A game that was played to its end."""

    game: TorresGame
    moves: list[Move] = field(default_factory=list)
    forfeits: list[Forfeit] = field(default_factory=list)

    @property
    def result(self) -> Result:
        """Return how the game ended."""
        assert self.game.result is not None  # it was played to its end
        return self.game.result

    def replay(self, *, seed: str, players: list[dict[str, Any]]) -> dict[str, Any]:
        """Return the replay document, ``torres-replay/1``."""
        return document(
            self.game,
            seed=seed,
            players=players,
            moves=[move.entry() for move in self.moves],
            forfeits=[forfeit.entry() for forfeit in self.forfeits],
        )


Watch = Callable[[Move], None]


def play(
    game: TorresGame,
    players: Sequence[Player],
    *,
    seed: str,
    limits: dict[str, int],
    watch: Watch | None = None,
) -> GameRecord:
    """Play ``game`` to its end with one player a seat; every player is ended.

    ``seed`` is the game's own; the players get seeds derived from it. ``limits`` is
    told to the players as it is, and its ``move_ms`` and ``bank_ms`` are the clock.
    ``watch`` hears of every move as it is made; what it raises ends the game.
    Raises ServiceFault where a player's side failed by our own fault.
    """
    table = _RunningGame(game, players, limits, watch)
    try:
        table.open(seed)
        while not game.over:
            table.step()
        table.close()
    finally:
        for player in players:
            player.kill()
    return table.outcome


class _RunningGame:
    """The seats of one running game: their clocks, and what each was told."""

    def __init__(
        self,
        game: TorresGame,
        players: Sequence[Player],
        limits: dict[str, int],
        watch: Watch | None,
    ) -> None:
        self.game, self.players, self.limits = game, players, limits
        self.watch = watch
        self.outcome = GameRecord(game)
        self.banks = [float(limits["bank_ms"])] * len(players)
        self.told = [0] * len(players)
        self.started: set[int] = set()
        self.turn = -1
        self.move_ms = 0.0

    def open(self, seed: str) -> None:
        """Start the players in the order of the seats from ``first``.

        When all others failed, the last seat has won without being examined.
        """
        seats = len(self.players)
        for k in range(seats):
            if self.game.over:
                return
            seat = (self.game.setup.first + k) % seats
            self.started.add(seat)
            try:
                self.players[seat].start(self._hello(seat, seed))
            except PlayerFault as fault:
                self._forfeit(seat, fault)

    def _hello(self, seat: int, seed: str) -> dict[str, Any]:
        return {
            "type": "hello",
            "protocol": PROTOCOL,
            "ruleset": self.game.rules.ruleset,
            "switches": self.game.rules.switches(),
            "seats": len(self.players),
            "seat": seat,
            "seed": derive_seed(seed, seat),
            "limits": self.limits,
        }

    def step(self) -> None:
        """Let the seat that is due answer once, or answer for it."""
        seat = self.game.seat
        assert seat is not None  # the loop ends with the game
        if seat in self.game.forfeited:
            actions = self.game.automatic()
            for action in actions:
                self.game.play(action, auto=True)
            self._record(seat, actions, None)
            return
        try:
            answer = self._ask(seat)
            actions = self._actions(answer)
        except PlayerFault as fault:
            self._forfeit(seat, fault)
            return
        self._perform(seat, actions, answer)

    def _ask(self, seat: int) -> Answer:
        game = self.game
        if game.turn_id != self.turn:
            self.turn, self.move_ms = game.turn_id, float(self.limits["move_ms"])
        assert game.decision is not None  # the game is not over
        ask = Ask(
            decision=game.decision,
            ply=game.ply,
            state=game.state(seat),
            events=[seen_by(event, seat) for event in game.log[self.told[seat] :]],
            legal=game.legal(),
            move_ms=self.move_ms,
            bank_ms=self.banks[seat],
        )
        self.told[seat] = len(game.log)
        answer = self.players[seat].decide(ask)
        self._charge(seat, answer.ms)
        return answer

    def _charge(self, seat: int, ms: float) -> None:
        """Take the time from the move first, then from the bank (section 8)."""
        over = ms - self.move_ms
        self.move_ms = max(0.0, -over)
        if over > 0:
            left = self.banks[seat]
            self.banks[seat] = left - over
            if over > left:
                raise PlayerFault(
                    Fault.TIMEOUT,
                    f"{ms:.0f} ms used; {ms - over + left:.0f} ms were left",
                )

    def _actions(self, answer: Answer) -> list[str]:
        if answer.index is None:
            return answer.actions or []
        legal = self.game.legal()
        if not 0 <= answer.index < len(legal):
            raise PlayerFault(
                Fault.PROTOCOL,
                f"index {answer.index} of {len(legal)} legal actions (0 is the first)",
            )
        return [legal[answer.index]]

    def _perform(self, seat: int, actions: list[str], answer: Answer) -> None:
        """Play the actions until one is refused; those before it stand."""
        game, done = self.game, 0
        turn = game.turn_id
        fault = None
        for action in actions:
            if done and game.over:
                break  # nothing can be wrong after the end
            if why := _surplus(actions[:done], same_turn=game.turn_id == turn):
                fault = PlayerFault(Fault.ILLEGAL_ACTION, f"{action[:80]!r}: {why}")
                break
            try:
                game.play(action)
            except IllegalAction as refusal:
                fault = PlayerFault(Fault.ILLEGAL_ACTION, str(refusal))
                break
            done += 1
        if done:
            self._record(seat, actions[:done], answer)
        if fault is not None:
            self._forfeit(seat, fault)

    def _record(self, seat: int, actions: list[str], answer: Answer | None) -> None:
        move = Move(len(self.outcome.moves), seat, actions, answer)
        self.outcome.moves.append(move)
        if self.watch is not None:
            self.watch(move)

    def _forfeit(self, seat: int, fault: PlayerFault) -> None:
        before = len(self.outcome.moves)
        self.outcome.forfeits.append(Forfeit(seat, before, fault.reason, fault.detail))
        self.game.forfeit(seat, fault.reason)
        self.players[seat].forfeit(fault.reason, fault.detail)

    def close(self) -> None:
        """Tell the result to every seat that still has a say."""
        result = self.outcome.result
        for seat, player in enumerate(self.players):
            if seat in self.started and seat not in self.game.forfeited:
                player.end(result["scores"], result["ranks"], result["reason"])


def _surplus(done: list[str], *, same_turn: bool) -> str | None:
    """Say why nothing may follow these actions in the same answer, if so."""
    if not done:
        return None
    if done[-1] == "buy":
        return "nothing may follow buy in the same answer: look at the cards first"
    if not same_turn:
        return "the turn is over; one answer belongs to one turn"
    return None
