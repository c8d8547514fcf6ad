"""The engine agrees with a second, plain implementation at every ply."""

import os
import random

import pytest

from engine.editions import PRESETS
from engine.errors import EngineError
from engine.faults import Fault
from engine.game import TorresGame
from engine.rulesets import resolve
from engine.setup import derive
from tests.engine.oracle import Oracle

GAMES = int(os.environ.get("TESTS_ORACLE_GAMES", "1"))

CHANGES = {
    "start_blocks": ["marked", "placed"],
    "card_access": ["own_deck", "shared_deck", "full_hand"],
    "buy_draw": [1, 3],
    "max_buys": [0, 1, 2, 5],
    "stack_choice": ["free", "largest"],
    "max_blocks_per_turn": [None, 0, 2, 3],
    "stack_limit": [None, 2, 3, 4],
    "leftover_distribution": ["player", "auto"],
    "leftover_at_phase_end": ["return", "keep"],
    "next_start": ["lowest", "lowest_chooses"],
    "order": ["fixed", "leader", "descending"],
    "master_card": [True, False],
    "master_all_six": [True, False],
    "row_contiguous": [True, False],
    "tilted_squares": [True, False],
    "stacks": [
        [[3, 2, 1], [2, 2], [4, 1, 1]],
        [[1], [1], [1]],
        [[5, 2], [3, 3, 3], [1, 2, 3]],
    ],
}


def choose(legal, rng):
    """Choose an action: prefer rare kinds, and end turns late."""
    rare = [a for a in legal if a.startswith(("play", "end ", "stock", "keep"))]
    if rare and rng.random() < 0.4:
        return rng.choice(rare)
    others = [a for a in legal if not a.startswith("end")]
    if others and rng.random() < 0.93:
        kind = rng.choice(sorted({a.split()[0] for a in others}))
        return rng.choice([a for a in others if a.split()[0] == kind])
    return rng.choice(legal)


def agree(rules, seed, forfeits=0.0):
    setup = derive(rules, seed)
    game = TorresGame(rules, setup)
    oracle = Oracle(rules.switches(), rules.seats, setup)
    rng = random.Random(seed)
    while not game.over:
        where = (seed, game.ply)
        assert game.decision == oracle.decision, where
        assert game.legal() == oracle.legal(), where
        assert game.state() == oracle.state(), where
        seat = rng.randrange(rules.seats)
        if rng.random() < forfeits and seat not in game.forfeited:
            game.forfeit(seat, Fault.CRASH)
            oracle.forfeited.append(seat)
        elif game.seat in game.forfeited:
            for action in game.automatic():
                assert action == oracle.automatic(), where
                game.play(action)
                oracle.play(action)
        else:
            action = choose(game.legal(), rng)
            game.play(action)
            oracle.play(action)
    assert game.scoring == oracle.scoring
    if game.result["reason"] == "completed":
        assert oracle.over
        assert game.state() == oracle.state()


@pytest.mark.parametrize("number", range(GAMES))
@pytest.mark.parametrize("ruleset", PRESETS)
def test_every_preset_agrees_with_the_plain_implementation(ruleset, number) -> None:
    seats = 2 + (number + sorted(PRESETS).index(ruleset)) % 3
    agree(resolve(ruleset, seats), f"{ruleset}-{number}")


@pytest.mark.parametrize("number", range(8 * GAMES))
def test_changed_switches_agree_with_the_plain_implementation(number: int) -> None:
    rng = random.Random(number)
    names = rng.sample(sorted(CHANGES), rng.randint(2, 8))
    changes = {name: rng.choice(CHANGES[name]) for name in names}
    try:
        rules = resolve(rng.choice(sorted(PRESETS)), rng.randint(2, 4), changes)
    except EngineError:
        changes.pop("stacks", None)  # some phase cards need more blocks than exist
        rules = resolve("torres-3d", 3, changes)
    agree(rules, f"changed-{number}", forfeits=rng.choice([0, 0.005]))
