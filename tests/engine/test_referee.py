"""The referee with players that are plain Python objects."""

import random
from collections.abc import Callable
from typing import Any

import pytest

from engine import replay
from engine.faults import Fault
from engine.game import TorresGame
from engine.referee import (
    MAX_DETAIL_CHARS,
    Answer,
    Ask,
    Hello,
    PlayerFault,
    QuietPlayer,
    ServiceFault,
    play,
)
from engine.rulesets import resolve
from engine.setup import derive

LIMITS = {"move_ms": 1000, "bank_ms": 5000}


class ScriptedSeat:
    """A player that answers at random and stores the messages of the referee."""

    def __init__(self, seed: int = 0) -> None:
        self.rng = random.Random(seed)
        self.asks: list[Ask] = []
        self.messages: list[Any] = []
        self.hello: Hello | None = None
        self.killed = 0

    def start(self, hello: Hello) -> None:
        self.hello = hello

    def answer(self, ask: Ask) -> Answer:
        return Answer([self.rng.choice(ask.legal)], None, 1.0)

    def decide(self, ask: Ask) -> Answer:
        self.asks.append(ask)
        return self.answer(ask)

    def forfeit(self, reason: str, detail: str) -> None:
        self.messages.append(("forfeit", reason, detail))

    def end(self, scores: list[int], ranks: list[int], reason: str) -> None:
        self.messages.append(("end", scores, ranks, reason))

    def kill(self) -> None:
        self.killed += 1


class At(ScriptedSeat):
    """Gives a special answer to its n-th question."""

    def __init__(self, n: int, special: Callable[[Ask], Answer]) -> None:
        super().__init__()
        self.n = n
        self.special = special

    def answer(self, ask: Ask) -> Answer:
        if len(self.asks) == self.n:
            return self.special(ask)
        return super().answer(ask)


class CrashesAtStart(ScriptedSeat):
    def start(self, hello: Hello) -> None:
        raise PlayerFault(Fault.CRASH, "exit code 1, at start")


def play_with(players: list[Any], seed: str = "s", ruleset: str = "yucata"):
    rules = resolve(ruleset, len(players))
    return play(
        TorresGame(rules, derive(rules, seed)), players, seed=seed, limits=LIMITS
    )


def document(record, players):
    names = [{"name": str(i)} for i in range(len(players))]
    return record.replay(seed="s", players=names)


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_a_whole_game_ends_with_a_replay_that_verifies(seats: int) -> None:
    players = [ScriptedSeat(seed) for seed in range(seats)]

    record = play_with(players)

    replay.verify(document(record, players))
    assert all(player.killed for player in players)
    assert [p.messages[-1][0] for p in players] == ["end"] * seats
    assert record.game.result["reason"] == "completed"


def test_each_seat_gets_a_hello_with_its_own_seed() -> None:
    players = [ScriptedSeat(1), ScriptedSeat(2)]

    play_with(players, seed="secret")

    seeds = {player.hello.seed for player in players}
    assert len(seeds) == 2
    assert all("secret" not in seed for seed in seeds)
    assert [(p.hello.seat, p.hello.seats) for p in players] == [(0, 2), (1, 2)]
    for player in players:
        assert player.hello.ruleset == "yucata"
        assert player.hello.switches["stack_limit"] == 3
        assert player.hello.limits == LIMITS


def test_each_seat_gets_each_event_once_without_secrets() -> None:
    players = [ScriptedSeat(5), ScriptedSeat(6)]

    record = play_with(players)

    for seat, player in enumerate(players):
        events = [event for ask in player.asks for event in ask.events]
        assert len(events) <= len(record.game.log)
        for event, received in zip(record.game.log, events, strict=False):
            action = event.get("action", "")
            if action.startswith("keep") and event["seat"] != seat:
                assert received["action"] == f"keep ? {action.split()[2]}"
            else:
                assert received == event


@pytest.mark.parametrize("answer", [["block z9"], ["nonsense"], ["", "end"], ["end\n"]])
def test_an_illegal_action_forfeits_and_the_game_goes_on(answer: list[str]) -> None:
    cheat = At(6, lambda _: Answer(answer, None, 1.0))
    players = [cheat, ScriptedSeat(1), ScriptedSeat(2)]

    record = play_with(players)

    assert [f.reason for f in record.forfeits] == ["illegal_action"]
    assert cheat.messages[0][0] == "forfeit"
    assert len(cheat.messages) == 1
    document_ = document(record, players)
    replay.verify(document_)
    assert any(move.get("auto") for move in document_["moves"])
    assert document_["result"]["ranks"][0] == 3


def test_the_legal_actions_before_an_illegal_one_stand() -> None:
    def half(ask: Ask) -> Answer:
        return Answer([ask.legal[0], "fly a1"], None, 1.0)

    players = [At(1, half), ScriptedSeat(1), ScriptedSeat(2)]

    record = play_with(players)

    forfeit = record.forfeits[0]
    assert record.moves[forfeit.before_move - 1].seat == 0
    replay.verify(document(record, players))


def test_nothing_follows_buy_and_nothing_reaches_beyond_the_turn() -> None:
    def greedy(ask: Ask) -> Answer:
        return Answer(["buy", "end"], None, 1.0)

    def eager(ask: Ask) -> Answer:
        return Answer(["end", "end"], None, 1.0)

    for special in (greedy, eager):
        players = [At(4, special), ScriptedSeat(1), ScriptedSeat(2)]
        record = play_with(players)
        assert record.forfeits[0].reason == "illegal_action"
        replay.verify(document(record, players))


def test_an_index_chooses_from_the_sorted_legal_actions() -> None:
    class First(ScriptedSeat):
        def answer(self, ask: Ask) -> Answer:
            assert ask.legal == sorted(ask.legal)
            return Answer(None, 0, 1.0)

    class Beyond(ScriptedSeat):
        def answer(self, ask: Ask) -> Answer:
            return Answer(None, len(ask.legal), 1.0)

    assert play_with([First(), First()]).forfeits == []
    assert play_with([Beyond(), First()]).forfeits[0].reason == "protocol"


def test_a_turn_is_free_once_and_the_bank_pays_the_rest() -> None:
    class Slow(ScriptedSeat):
        def answer(self, ask: Ask) -> Answer:
            return Answer([self.rng.choice(ask.legal)], None, 600.0)

    slow = Slow(3)
    record = play_with([slow, ScriptedSeat(1)])

    assert [f.reason for f in record.forfeits] == ["timeout"]
    asks = [ask for ask in slow.asks if ask.decision in {"turn", "keep"}][:3]
    left = [(ask.move_ms, ask.bank_ms) for ask in asks]
    assert left == [(1000, 5000), (400, 5000), (0, 4800)]


def test_a_bank_that_is_overdrawn_is_a_timeout() -> None:
    late = At(3, lambda ask: Answer([ask.legal[0]], None, 6000.5))

    record = play_with([late, ScriptedSeat(1)])

    assert [f.reason for f in record.forfeits] == ["timeout"]
    assert record.game.result["reason"] == "last_standing"


def test_faults_at_the_start_count_in_order_and_the_last_seat_is_not_examined() -> None:
    players = [CrashesAtStart(), CrashesAtStart(), CrashesAtStart()]

    record = play_with(players)

    assert len(record.forfeits) == 2
    assert record.moves == []
    first = record.game.setup.first
    assert [f.seat for f in record.forfeits] == [first, (first + 1) % 3]
    assert record.game.result["ranks"][(first + 2) % 3] == 1
    replay.verify(document(record, players))


def test_our_own_fault_ends_the_game_and_every_player() -> None:
    def broken(_: Ask) -> Answer:
        raise ServiceFault("the disk is full")

    players = [At(3, broken), ScriptedSeat(1)]

    with pytest.raises(ServiceFault):
        play_with(players)
    assert all(player.killed for player in players)


def test_watch_is_called_with_every_move() -> None:
    moves = []
    rules = resolve("yucata", 2)
    game = TorresGame(rules, derive(rules, "w"))

    record = play(
        game,
        [ScriptedSeat(1), ScriptedSeat(2)],
        seed="w",
        limits=LIMITS,
        watch=moves.append,
    )

    assert moves == record.moves
    assert [move.index for move in moves] == list(range(len(moves)))


def test_an_answer_belongs_to_one_turn() -> None:
    def two_turns(ask: Ask) -> Answer:
        end = next(action for action in ask.legal if action.startswith("end"))
        return Answer([end, "score"], None, 1.0)

    # The first questions are about the knight and, for one seat, about the king.
    record = play_with([At(4, two_turns), ScriptedSeat(1)])

    assert [f.detail for f in record.forfeits] == [
        "'score': the turn is over, and an answer belongs to one turn"
    ]


class Talkative(ScriptedSeat):
    """Ends each turn at once, and adds an action after the end of the game."""

    def answer(self, ask: Ask) -> Answer:
        if ask.decision != "turn":
            return super().answer(ask)
        end = next(action for action in ask.legal if action.startswith("end"))
        state = ask.state
        rounds = len(resolve("yucata", 2).stacks[2])
        last = state["phase"] == 3 and state["round"] == rounds
        if last and state["order"][-1] == state["seat"]:
            return Answer([end, "score"], None, 1.0)
        return Answer([end], None, 1.0)


def test_actions_after_the_end_are_ignored() -> None:
    record = play_with([Talkative(1), Talkative(2)])

    assert record.forfeits == []
    assert len(record.moves[-1].actions) == 1


class Scorer(ScriptedSeat):
    """Begins each turn with two points at once."""

    def answer(self, ask: Ask) -> Answer:
        if ask.decision == "turn" and ask.state["ap"] == 5:
            return Answer(["score", "score"], None, 1.0)
        return super().answer(ask)


def test_an_answer_may_hold_several_actions_of_a_turn() -> None:
    record = play_with([Scorer(1), Scorer(2)])

    assert record.forfeits == []
    assert ["score", "score"] in [move.actions for move in record.moves]


@pytest.mark.parametrize("method", ["decide", "forfeit", "end"])
def test_a_failure_while_serving_a_seat_names_the_seat(method: str) -> None:
    class Breaks(ScriptedSeat):
        pass

    def fail(*_: object) -> None:
        raise ValueError("file descriptor cannot be a negative integer (-1)")

    broken = Breaks(1)
    setattr(broken, method, fail)
    if method == "forfeit":
        broken.answer = lambda _ask: Answer(["fly a1"], None, 1.0)  # type: ignore[method-assign]

    with pytest.raises(ServiceFault) as fault:
        play_with([ScriptedSeat(2), broken])

    assert fault.value.seat == 1


def test_every_player_is_killed_even_if_a_kill_fails() -> None:
    class Stubborn(ScriptedSeat):
        def kill(self) -> None:
            raise OSError("no such process")

    last = ScriptedSeat(3)
    killed: list[bool] = []
    last.kill = lambda: killed.append(True)  # type: ignore[method-assign]

    with pytest.raises(ServiceFault) as fault:
        play_with([Stubborn(1), last])

    assert killed == [True]
    assert fault.value.seat == 0


def test_a_long_quotation_of_a_bot_is_cut() -> None:
    class Babbler(ScriptedSeat):
        def answer(self, _ask: Ask) -> Answer:
            return Answer(["é" * 30_000], None, 1.0)

    record = play_with([Babbler(1), ScriptedSeat(2)])

    assert len(record.forfeits[0].detail) <= MAX_DETAIL_CHARS


def test_a_service_fault_keeps_its_text_and_gets_the_seat() -> None:
    class Starved(ScriptedSeat):
        def answer(self, _ask: Ask) -> Answer:
            raise ServiceFault("the machine gave no processor")

    with pytest.raises(ServiceFault, match=r"^the machine gave no processor$") as fault:
        play_with([Starved(1), ScriptedSeat(2)])

    assert fault.value.seat == 0


def test_a_fault_of_a_player_is_a_forfeit_and_no_failure() -> None:
    class Exits(ScriptedSeat):
        def answer(self, _ask: Ask) -> Answer:
            raise PlayerFault(Fault.CRASH, "exit code 7, at turn at ply 3")

    record = play_with([Exits(1), ScriptedSeat(2)])

    assert [(f.seat, f.reason) for f in record.forfeits] == [(0, "crash")]


class FirstLegal(QuietPlayer):
    """Plays the first legal action until its n-th question."""

    def __init__(self, until: int) -> None:
        self.left = until

    def decide(self, ask: Ask) -> Answer:
        self.left -= 1
        if not self.left:
            raise PlayerFault(Fault.CRASH, "it is over")
        return Answer(ask.legal[:1], None, 1.0)


def test_a_player_that_is_no_program_only_answers() -> None:
    players = [FirstLegal(3), FirstLegal(-1)]
    rules = resolve("yucata", 2)
    game = TorresGame(rules, derive(rules, "quiet"))
    record = play(game, players, seed="quiet", limits=LIMITS)
    players[0].kill()

    assert record.result["ranks"] == [2, 1]
