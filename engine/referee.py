"""The referee: it asks the players for decisions, checks answers and keeps clocks.

A player is any object with the methods of `Player`: it answers a decision and reports
the thinking time. The referee knows no processes, JSON, database or wall clock.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

from engine.documents import ForfeitEntry, MoveEntry, PlayerEntry, Replay
from engine.errors import IllegalAction
from engine.faults import EndReason, Fault
from engine.game import Result, TorresGame, seen_by
from engine.moves import Decision
from engine.replay import document
from engine.setup import derive_seed

MAX_DETAIL_CHARS = 500  # of what a forfeit says; a bot may answer with 64 KiB


class PlayerFault(Exception):
    """The player made a fault, so its seat forfeits.

    `detail` is one sentence for the owner of the bot.
    """

    def __init__(self, reason: Fault, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


class ServiceFault(Exception):
    """The service itself failed (a lost worker, a full disk): no seat forfeits.

    The game has to be played again. `seat` is the seat whose player was being served,
    or None. If every attempt at a game fails in the same seat, the service takes that
    for the fault of the seat: otherwise a bot that can break the service could escape
    from each game that it is about to lose.
    """

    def __init__(self, message: str, seat: int | None = None) -> None:
        super().__init__(message)
        self.seat = seat


@dataclass(frozen=True, slots=True)
class Hello:
    """The facts that a player gets before the game.

    `switches` has all resolved switches by name. `seed` is for the player's own
    randomness and does not reveal the game's seed.
    """

    ruleset: str
    switches: dict[str, object]
    seats: int
    seat: int
    seed: str
    limits: dict[str, int]


@dataclass(frozen=True, slots=True)
class Ask:
    """One question to one seat.

    `events` are the events since the seat's last question, as the seat may see them.
    `move_ms` and `bank_ms` are the milliseconds of thinking time that the seat has left
    now; the player has to stop when both are used up.
    """

    decision: Decision
    ply: int
    state: dict[str, object]
    events: list[dict[str, object]]
    legal: list[str]
    move_ms: float
    bank_ms: float


@dataclass(slots=True)  # not frozen: that would double the cost of making one
class Answer:
    """A player's answer: a list of actions, or the index of a legal action.

    `ms` is the charged thinking time. `cpu_ms` and `wall_ms` are the measurements that
    it was computed from; they are stored with the move so that it can be checked.
    `note` is for the owner of the bot. `say` (one line) and `expect` (the player's own
    chance to win, 0 to 1) are for everybody when the game is over.
    """

    actions: list[str] | None
    index: int | None
    ms: float
    cpu_ms: float = 0.0
    wall_ms: float = 0.0
    note: str | None = None
    say: str = ""
    expect: float | None = None


class Player(Protocol):
    """The player of one seat. `start`, `decide` raise PlayerFault or ServiceFault."""

    def start(self, hello: Hello) -> None:
        """Start the player; it must be ready within the limits in `hello`."""

    def decide(self, ask: Ask) -> Answer:
        """Answer one question within `move_ms + bank_ms` of thinking time."""

    def forfeit(self, reason: Fault, detail: str) -> None:
        """End because the seat forfeited. Must not raise or block for long."""

    def end(self, scores: list[int], ranks: list[int], reason: EndReason) -> None:
        """End because the game is over, with its result."""

    def kill(self) -> None:
        """End everything of the player at once. May be called more than once."""


class QuietPlayer(Player):
    """Base class of players that are no programs: they only answer questions."""

    def start(self, hello: Hello) -> None:
        """Nothing has to be started."""

    def forfeit(self, reason: Fault, detail: str) -> None:
        """Nobody has to be told."""

    def end(self, scores: list[int], ranks: list[int], reason: EndReason) -> None:
        """Nobody has to be told."""

    def kill(self) -> None:
        """Nothing runs that could be killed."""


@dataclass(frozen=True, slots=True)
class Move:
    """One entry of the replay's `moves`.

    `actions` are the legal actions of the answer, up to the first illegal one. `answer`
    is the player's answer, or None if the referee answered for a forfeited seat.
    """

    index: int
    seat: int
    actions: list[str]
    answer: Answer | None

    def entry(self) -> MoveEntry:
        """Return the entry in the form of the replay (docs/contract.md, section 7)."""
        if self.answer is None:
            return {"seat": self.seat, "actions": self.actions, "auto": True}
        ms = round(self.answer.ms, 1)
        entry: MoveEntry = {"seat": self.seat, "actions": self.actions, "ms": ms}
        if self.answer.say:
            entry["say"] = self.answer.say
        if self.answer.expect is not None:
            entry["expect"] = self.answer.expect
        return entry


@dataclass(frozen=True, slots=True)
class Forfeit:
    """A seat that forfeited before the move with the index `before_move`."""

    seat: int
    before_move: int
    reason: Fault
    detail: str

    def entry(self) -> ForfeitEntry:
        """Return the entry in the form of the replay, without the private detail."""
        return {
            "seat": self.seat,
            "before_move": self.before_move,
            "reason": self.reason,
        }


@dataclass(slots=True)
class GameRecord:
    """A game that was played to its end: its moves and forfeits."""

    game: TorresGame
    moves: list[Move] = field(default_factory=list)
    forfeits: list[Forfeit] = field(default_factory=list)

    @property
    def result(self) -> Result:
        """The result of the game."""
        assert self.game.result is not None  # the game is over
        return self.game.result

    def replay(self, *, seed: str, players: list[PlayerEntry]) -> Replay:
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
    """Play a game to its end with one player for each seat, and kill all players.

    `seed` is the game's seed; each player gets a seed derived from it. The players get
    `limits` unchanged, and its `move_ms` and `bank_ms` set their clocks. `watch` is
    called with every move when it is made; an exception that it raises ends the game.
    Raises ServiceFault if the service itself failed.

    1. Start the players in the order of the seats. A fault forfeits the seat.
    2. Ask the seat that decides, or answer for it if it has forfeited, until the game
       is over.
    3. Send the result to the seats that did not forfeit.
    """
    running = _RunningGame(game, players, limits, watch)
    try:
        running.open(seed)
        while not game.over:
            running.step()
        running.close()
    finally:
        _kill_all(players)
    return running.record


@contextmanager
def serving(seat: int) -> Iterator[None]:
    """Turn an exception that is no PlayerFault into a ServiceFault with the seat."""
    try:
        yield
    except PlayerFault:
        raise
    except Exception as error:
        raise _seat_failure(seat, error) from error


def _seat_failure(seat: int, error: Exception) -> ServiceFault:
    if isinstance(error, ServiceFault):
        return ServiceFault(str(error), seat)
    return ServiceFault(f"{type(error).__name__}: {error}", seat)


def _kill_all(players: Sequence[Player]) -> None:
    """Kill every player, also after a kill that failed, and raise the first failure."""
    failure = None
    for seat, player in enumerate(players):
        try:
            player.kill()
        except Exception as error:  # noqa: BLE001 - the other players must be killed
            failure = failure or _seat_failure(seat, error)
    if failure is not None:
        raise failure


def _shortened(detail: str) -> str:
    """Return a detail, which may quote a bot, in at most `MAX_DETAIL_CHARS`."""
    if len(detail) <= MAX_DETAIL_CHARS:
        return detail
    return f"{detail[: MAX_DETAIL_CHARS - 1]}…"


class SeatClocks:
    """The thinking time that the seats of a game have left, in ms.

    `move_ms` is left of the present turn, and `banks` has the banks by seat
    (docs/contract.md, section 8).
    """

    def __init__(self, game: TorresGame, limits: Mapping[str, int]) -> None:
        self._game = game
        self._turn = -1
        self._turn_ms = float(limits["move_ms"])
        self.move_ms = 0.0
        self.banks = [float(limits["bank_ms"])] * game.rules.seats

    def begin(self) -> None:
        """Give the seat that decides the time of a turn if a new one has begun."""
        if self._game.turn_id != self._turn:
            self._turn = self._game.turn_id
            self.move_ms = self._turn_ms

    def charge(self, seat: int, ms: float) -> None:
        """Charge the time of the turn, and then the bank, which may get below 0."""
        over = ms - self.move_ms
        self.move_ms = max(0.0, -over)
        if over > 0:
            self.banks[seat] -= over


def hello_of(game: TorresGame, seat: int, seed: str, limits: dict[str, int]) -> Hello:
    """Return the facts that a seat gets before a game with this seed."""
    return Hello(
        ruleset=game.rules.ruleset,
        switches=game.rules.switches(),
        seats=game.rules.seats,
        seat=seat,
        seed=derive_seed(seed, seat),
        limits=limits,
    )


def ask_of(game: TorresGame, seat: int, clocks: SeatClocks, sent: int = 0) -> Ask:
    """Return the question to the seat that decides; `sent` events were sent before."""
    assert game.decision is not None  # the game is not over
    clocks.begin()
    return Ask(
        decision=game.decision,
        ply=game.ply,
        state=game.state(seat),
        events=[seen_by(event, seat) for event in game.log[sent:]],
        legal=game.legal(),
        move_ms=clocks.move_ms,
        bank_ms=clocks.banks[seat],
    )


class _RunningGame:
    """A running game: the clocks of its seats, and the events that each has got."""

    def __init__(
        self,
        game: TorresGame,
        players: Sequence[Player],
        limits: dict[str, int],
        watch: Watch | None,
    ) -> None:
        self.game = game
        self.players = players
        self.limits = limits
        self.watch = watch
        self.record = GameRecord(game)
        self.clocks = SeatClocks(game, limits)
        self.events_sent = [0] * len(players)
        self.started: set[int] = set()

    def open(self, seed: str) -> None:
        """Start the players in the order of the seats, from the first seat of the game.

        If all other seats forfeit, the last one wins without being started.
        """
        seats = len(self.players)
        for turn in range(seats):
            if self.game.over:
                return
            seat = (self.game.setup.first + turn) % seats
            self.started.add(seat)
            try:
                # A player that cannot even be started says nothing about its program,
                # so this call names no seat. The player itself names it later on.
                hello = hello_of(self.game, seat, seed, self.limits)
                self.players[seat].start(hello)
            except PlayerFault as fault:
                self._forfeit(seat, fault)

    def step(self) -> None:
        """Get one answer of the seat that decides, or answer for a forfeited seat."""
        seat = self.game.seat
        assert seat is not None  # the loop ends with the game
        if seat in self.game.forfeited:
            actions = self.game.automatic()
            for action in actions:
                self.game.play(action, auto=True)
            self._add_move(seat, actions, None)
            return
        try:
            answer = self._ask(seat)
            actions = self._actions(answer)
        except PlayerFault as fault:
            self._forfeit(seat, fault)
            return
        self._perform(seat, actions, answer)

    def _ask(self, seat: int) -> Answer:
        ask = ask_of(self.game, seat, self.clocks, self.events_sent[seat])
        self.events_sent[seat] = len(self.game.log)
        with serving(seat):
            answer = self.players[seat].decide(ask)
        self._charge(seat, answer.ms)
        return answer

    def _charge(self, seat: int, ms: float) -> None:
        """Charge a seat's clock. Raises PlayerFault if the bank is used up."""
        left = self.clocks.move_ms + self.clocks.banks[seat]
        self.clocks.charge(seat, ms)
        if self.clocks.banks[seat] < 0:
            raise PlayerFault(
                Fault.TIMEOUT, f"{ms:.0f} ms used; {left:.0f} ms were left"
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
        """Play the actions of an answer up to the first illegal one.

        The actions before an illegal one are part of the game.
        """
        game = self.game
        turn = game.turn_id
        played = 0
        fault = None
        for action in actions:
            if played and game.over:
                break  # actions after the end of the game are ignored
            why = _surplus(actions[:played], same_turn=game.turn_id == turn)
            if why is not None:
                fault = PlayerFault(Fault.ILLEGAL_ACTION, f"{action[:80]!r}: {why}")
                break
            try:
                game.play(action)
            except IllegalAction as refusal:
                fault = PlayerFault(Fault.ILLEGAL_ACTION, str(refusal))
                break
            played += 1
        if played:
            self._add_move(seat, actions[:played], answer)
        if fault is not None:
            self._forfeit(seat, fault)

    def _add_move(self, seat: int, actions: list[str], answer: Answer | None) -> None:
        move = Move(len(self.record.moves), seat, actions, answer)
        self.record.moves.append(move)
        if self.watch is not None:
            self.watch(move)

    def _forfeit(self, seat: int, fault: PlayerFault) -> None:
        before = len(self.record.moves)
        detail = _shortened(fault.detail)
        self.record.forfeits.append(Forfeit(seat, before, fault.reason, detail))
        self.game.forfeit(seat, fault.reason)
        with serving(seat):
            self.players[seat].forfeit(fault.reason, detail)

    def close(self) -> None:
        """Send the result to every seat that did not forfeit."""
        result = self.record.result
        for seat, player in enumerate(self.players):
            if seat in self.started and seat not in self.game.forfeited:
                with serving(seat):
                    player.end(result["scores"], result["ranks"], result["reason"])


def _surplus(played: list[str], *, same_turn: bool) -> str | None:
    """Return why no action may follow these in the same answer, or None if one may."""
    if not played:
        return None
    if played[-1] == "buy":
        return "nothing may follow buy in the same answer; wait for the cards drawn"
    if not same_turn:
        return "the turn is over, and an answer belongs to one turn"
    return None
