"""The house bot `planner`: its answers, its clock, and what it prefers."""

import importlib.util
import random
import time
from types import ModuleType
from typing import Any

import pytest

from engine.editions import PRESETS
from engine.game import TorresGame
from engine.moves import BUY
from engine.rulesets import resolve
from engine.setup import derive
from ladder.bots.house_bots import HOUSE_FOLDER


def load() -> ModuleType:
    path = HOUSE_FOLDER / "planner/bot.py"
    spec = importlib.util.spec_from_file_location("planner", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


BOT = load()


def question(game: TorresGame, move_ms: float, bank_ms: float = 0) -> dict[str, Any]:
    return {
        "decision": game.decision,
        "state": game.state(game.seat),
        "legal": game.legal(),
        "clock": {"move_ms": move_ms, "bank_ms": bank_ms},
    }


def new_game(seed: str, ruleset: str = "yucata", seats: int = 2) -> TorresGame:
    rules = resolve(ruleset, seats)
    return TorresGame(rules, derive(rules, seed))


def answer(game: TorresGame, move_ms: float = 1000) -> list[str]:
    rules = game.rules
    actions: list[str] = BOT.choose(
        question(game, move_ms), BOT.Judge(rules), random.Random(1)
    )
    return actions


def advance(game: TorresGame, decision: str, phase: int = 1) -> None:
    rng = random.Random(2)
    while game.decision != decision or game.position.phase < phase:
        game.play(rng.choice(game.legal()))


@pytest.mark.parametrize("ruleset", PRESETS)
@pytest.mark.parametrize("seats", [2, 3, 4])
def test_every_answer_is_legal_with_hardly_any_time(ruleset: str, seats: int) -> None:
    """The time is too short for a beam: the bot answers what it has."""
    game = new_game("planner", ruleset, seats)
    for move_ms in (0.1, 40):
        for _ in range(10):
            for action in answer(game, move_ms):
                game.play(action)  # raises an error if the action is illegal


def test_where_to_put_the_king_is_an_answer_of_its_own() -> None:
    game = new_game("king")
    advance(game, "king", phase=1)
    actions = answer(game)

    assert len(actions) == 1
    assert actions[0] in game.legal()


def test_a_purchase_ends_the_answer_and_comes_after_the_other_actions() -> None:
    game = new_game("buy")
    advance(game, "turn")
    search = BOT.TurnSearch(BOT.evaluator_for(game.rules, 1, 1), BOT.PROMISE)
    turns = [t for t in search.best(game.position, 200, 500) if BUY << 16 in t.moves]
    candidates = BOT.candidates_of(game.position, turns)

    assert len(candidates) == BOT.CANDIDATES
    assert all(buys > 0 for _, _, buys in candidates)
    assert not any(BUY << 16 in moves for _, moves, _ in candidates)
    assert len({(moves, buys) for _, moves, buys in candidates}) == len(candidates)
    _, moves, _ = candidates[0]
    words = BOT.actions_of(game.position.copy(), [*moves, BUY << 16])
    assert words[-1] == "buy"
    assert len(words) == len(moves) + 1


def test_it_keeps_to_its_share_of_the_clock() -> None:
    game = new_game("clock")
    advance(game, "turn", phase=2)
    for move_ms in (40, 4_000):
        began = time.process_time()
        answer(game, move_ms)
        used_ms = 1000 * (time.process_time() - began)
        # One call of the engine may still be running at the end of the time.
        assert used_ms < min(BOT.MOVE_SHARE * move_ms, 1000 * BOT.MAX_S) + 60


def test_visits_lead_to_the_turn_that_is_better_in_the_tree() -> None:
    node = BOT.Node(None, 2)
    node.grow([10.0, 9.0, -50.0], [None] * 3)
    for _ in range(200):
        number = node.select()
        node.report(number, (5.0, 8.0, 0.0)[number])

    assert node.counts[1] > 150 > node.counts[0] > 0
    assert node.visits == sum(node.counts) == 200


def test_the_castles_of_a_phase_that_is_over_count_once() -> None:
    game = new_game("between")
    advance(game, "king", phase=1)
    judge = BOT.Judge(game.rules)
    values = judge.values(game.position)
    later = game.position.copy()
    later.phase = 2

    assert values == [
        judge.search(2, 1).evaluator.value(later, seat) for seat in range(2)
    ]
    assert game.position.phase == 1


def test_it_takes_points_that_end_the_game() -> None:
    """In its very last turn only points count: five on the track, or more."""
    game = new_game("last")
    rng = random.Random(5)
    while True:
        if game.decision == "turn" and game.position.phase == 3:
            last = game.position.round == 4 and game.position.turn == 1
            if last and game.position.ap == 5:
                break
        game.play(rng.choice(game.legal()))
    seat = game.seat or 0
    passive = game.copy()
    while not passive.over:
        legal = passive.legal()
        passive.play("score" if "score" in legal else legal[0])
    while not game.over:
        for action in answer(game):
            game.play(action)
    assert game.result
    assert passive.result
    lead = game.result["scores"][seat] - game.result["scores"][1 - seat]
    other = passive.result["scores"]

    assert lead >= other[seat] - other[1 - seat]
