"""Random games from many positions in one call."""

import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

import engine
from engine.kernel import Position
from engine.moves import OVER
from engine.playouts import average_leads, play_out, seed_of
from tests.engine.factories import RULESETS_AND_SEATS, game, play_on

ROOT = Path(engine.__file__).parents[1]
BOTH = """
import hashlib, engine
from engine.evaluation import FEATURES, Evaluator, features, key_of
from engine.playouts import average_leads, play_out
digest = hashlib.sha256()
weights = [{name: 1 + n / 8 for n, name in enumerate(FEATURES)}] * 4
evaluator = Evaluator(weights, weights)
for ruleset in engine.PRESETS:
    for seats in (2, 3, 4):
        rules = engine.resolve(ruleset, seats)
        position = engine.kernel.start(rules, engine.derive(rules, ruleset))
        for ply in range(60):
            moves = position.legal()
            position.perform(moves[len(moves) // 2])
        digest.update(play_out([position], 2, 2**63 + seats))
        digest.update(features([position], 0))
        digest.update(repr(average_leads([position], 1, 1, 5)).encode())
        digest.update(repr(evaluator.expand([position], 1, 9)).encode())
        digest.update(repr(key_of(position)).encode())
print(engine.compiled, digest.hexdigest())
"""


def middle(ruleset: str, seats: int, plies: int = 40) -> Position:
    torres = game(ruleset, seats, "batch")
    for ply, _ in enumerate(play_on(torres, Random(seats))):
        if ply == plies:
            break
    return torres.position


def run_both(pure: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", BOTH],
        env=os.environ | {"TORRES_PURE": pure, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


@pytest.mark.skipif(not engine.compiled, reason="the kernel is not compiled")
def test_compiled_and_plain_give_the_same_numbers() -> None:
    assert run_both("0") == ["True", run_both("1")[1]]


@pytest.mark.parametrize(("ruleset", "seats"), RULESETS_AND_SEATS)
def test_the_scores_are_those_of_single_playouts(ruleset: str, seats: int) -> None:
    positions = [middle(ruleset, seats), middle(ruleset, seats, 60)]
    before = [position.legal() for position in positions]
    scores = play_out(positions, 2, 11)

    expected = []
    for number in range(4):
        copy = positions[number // 2].copy()
        copy.playout(seed_of(11, number))
        assert copy.decision == OVER
        expected += list(copy.track.scores)
    assert list(scores) == expected
    assert [position.legal() for position in positions] == before


def test_the_games_of_a_call_differ() -> None:
    position = middle("yucata", 2)
    scores = play_out([position], 12, 0)
    games = {tuple(scores[4 * game : 4 * game + 4]) for game in range(12)}

    assert len(games) > 6
    assert scores != play_out([position], 12, 1)
    assert scores == play_out([position], 12, 0)


def test_no_position_or_no_game_gives_no_scores() -> None:
    assert len(play_out([], 5, 1)) == 0
    assert len(play_out([middle("yucata", 2)], 0, 1)) == 0
    assert average_leads([], 0, 5, 1) == []


@pytest.mark.parametrize("seats", [2, 4])
def test_the_average_lead_is_over_the_best_rival(seats: int) -> None:
    positions = [middle("yucata", seats), middle("yucata", seats, 60)]
    scores = list(play_out(positions, 3, 9))
    leads = average_leads(positions, 1, 3, 9)

    for number, lead in enumerate(leads):
        games = [
            scores[4 * g : 4 * g + seats] for g in range(3 * number, 3 * number + 3)
        ]
        margins = [g.pop(1) - max(g) for g in games]
        assert lead == sum(margins) / 3
