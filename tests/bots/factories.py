"""House bots as modules, and the questions that the referee asks them."""

import importlib.util
import random
import time
from collections.abc import Callable
from types import ModuleType
from typing import Any

import engine
from engine.game import TorresGame
from engine.rulesets import resolve
from engine.setup import derive
from ladder.bots.house_bots import HOUSE_FOLDER

CALL_MS = 60 if engine.compiled else 300
"""The CPU time that a call of the engine may still take at the end of a bot's time."""


def cpu_ms(call: Callable[[], object]) -> float:
    """Return the least CPU time of three calls in ms.

    In one of them this process may collect its garbage, which takes half a second after
    a thousand tests.
    """
    used = []
    for _ in range(3):
        began = time.process_time()
        call()
        used.append(time.process_time() - began)
    return 1000 * min(used)


def load_house_bot(name: str) -> ModuleType:
    """Return the program of a house bot as a module."""
    path = HOUSE_FOLDER / name / "bot.py"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def new_game(seed: str, ruleset: str = "yucata", seats: int = 2) -> TorresGame:
    """Return a game before its first action."""
    rules = resolve(ruleset, seats)
    return TorresGame(rules, derive(rules, seed))


def question(game: TorresGame, move_ms: float, bank_ms: float = 0) -> dict[str, Any]:
    """Return the message `decide` of the referee, as far as a bot reads it."""
    return {
        "decision": game.decision,
        "state": game.state(game.seat),
        "legal": game.legal(),
        "clock": {"move_ms": move_ms, "bank_ms": bank_ms},
    }


def advance(game: TorresGame, decision: str, phase: int = 1) -> None:
    """Play random actions up to a decision in a phase."""
    rng = random.Random(2)
    while game.decision != decision or game.position.phase < phase:
        game.play(rng.choice(game.legal()))


def before_the_last_turn() -> TorresGame:
    """Return a game of which only the last turn is left, with all action points."""
    game = new_game("last")
    rng = random.Random(5)
    while True:
        if game.decision == "turn" and game.position.phase == 3:
            last = game.position.round == 4 and game.position.turn == 1
            if last and game.position.ap == 5:
                return game
        game.play(rng.choice(game.legal()))


def lead(game: TorresGame, seat: int) -> int:
    """Return the lead of a seat at the end of a game of two."""
    assert game.result
    scores: list[int] = game.result["scores"]
    return scores[seat] - scores[1 - seat]


def lead_with_scores_only(game: TorresGame, seat: int) -> int:
    """Return the lead of a seat that only takes points on the track from now on."""
    passive = game.copy()
    while not passive.over:
        legal = passive.legal()
        passive.play("score" if "score" in legal else legal[0])
    return lead(passive, seat)
