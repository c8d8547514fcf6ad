"""The house bot `searcher`: its answers, its clock, and what it prefers."""

import importlib.util
import random
import time
from types import ModuleType
from typing import Any

import pytest

from engine.editions import PRESETS
from engine.game import TorresGame
from engine.rulesets import resolve
from engine.setup import derive
from ladder.bots.house_bots import HOUSE_FOLDER


def load() -> ModuleType:
    path = HOUSE_FOLDER / "searcher/bot.py"
    spec = importlib.util.spec_from_file_location("searcher", path)
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


def advance(game: TorresGame, decision: str, phase: int = 1) -> None:
    rng = random.Random(2)
    while game.decision != decision or game.position.phase < phase:
        game.play(rng.choice(game.legal()))


@pytest.mark.parametrize("ruleset", PRESETS)
def test_every_answer_is_legal_with_hardly_any_time(ruleset: str) -> None:
    """The time is too short for one beam: the bot answers what it has."""
    rules = resolve(ruleset, 2)
    game = TorresGame(rules, derive(rules, "searcher"))
    rng = random.Random(1)
    for _ in range(12):
        for action in BOT.choose(question(game, 0.1), rules, rng):
            game.play(action)  # raises an error if the action is illegal


def test_where_to_put_the_king_is_an_answer_of_its_own() -> None:
    rules = resolve("yucata", 2)
    game = TorresGame(rules, derive(rules, "king"))
    advance(game, "king", phase=1)
    actions = BOT.choose(question(game, 100), rules, random.Random(1))

    assert len(actions) == 1
    assert actions[0] in game.legal()


def test_nothing_follows_a_purchase() -> None:
    rules = resolve("yucata", 2)
    game = TorresGame(rules, derive(rules, "buy"))
    advance(game, "turn")
    seat = game.position.copy()
    moves = [move for move in seat.legal() if move >> 16 == BOT.BUY]

    assert BOT.actions_of(seat, moves) == ["buy"]


def test_it_keeps_to_its_share_of_the_clock() -> None:
    rules = resolve("yucata", 2)
    game = TorresGame(rules, derive(rules, "clock"))
    advance(game, "turn")
    for move_ms in (40, 4_000):
        began = time.process_time()
        BOT.choose(question(game, move_ms, 0), rules, random.Random(1))
        used_ms = 1000 * (time.process_time() - began)
        # One call of the engine may still be running at the end of the time.
        assert used_ms < min(BOT.MOVE_SHARE * move_ms, 1000 * BOT.MAX_S) + 60


def test_equal_seeds_give_equal_answers() -> None:
    rules = resolve("yucata", 2)
    game = TorresGame(rules, derive(rules, "again"))
    advance(game, "turn")
    answers = [
        BOT.choose(question(game, 10_000_000), rules, random.Random(3))
        for _ in range(2)
    ]

    assert answers[0] == answers[1]
    assert len(answers[0]) > 1


def test_it_takes_points_that_end_the_game() -> None:
    """In its very last turn only points count: five on the track, or more."""
    rules = resolve("yucata", 2)
    game = TorresGame(rules, derive(rules, "last"))
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
        for action in BOT.choose(question(game, 1000), rules, random.Random(1)):
            game.play(action)
    assert game.result
    assert passive.result
    lead = game.result["scores"][seat] - game.result["scores"][1 - seat]
    other = passive.result["scores"]

    assert lead >= other[seat] - other[1 - seat]
