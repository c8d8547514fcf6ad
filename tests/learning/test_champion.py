"""The training of the house bot `champion`."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from engine.evaluation import FEATURES
from engine.rulesets import resolve
from engine.strategy import RoundSearches
from tests.learning import champion
from tests.learning.champion import USED, Turns, fit, play_games

RULES = resolve("yucata", 2)


def test_the_same_seed_gives_the_same_weights(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    contents = []
    for seed in ("1", "1", "2"):
        out = tmp_path / "weights.json"
        options = ["--seed", seed, "--rounds", "2", "--games", "4"]
        monkeypatch.setattr(sys, "argv", ["champion", str(out), *options])
        champion.main()
        contents.append(out.read_text())

    assert contents[0] == contents[1] != contents[2]
    learned = json.loads(contents[0])
    assert [set(weights) for weights in learned] == [{*USED, "master"}] * 3
    assert all(weights["master"] == weights["castles"] for weights in learned)


def test_all_turns_of_a_game_are_noted() -> None:
    turns = play_games(RULES, "turns", 6, RoundSearches(RULES, champion.PROMISE))
    scores = turns.inputs[:, :, USED.index("score")] * turns.signs

    assert turns.inputs.shape == (6, 24, 2 * len(USED) + 2)
    assert (np.abs(turns.signs.sum(axis=1)) == 0).all()
    # What a seat leads by on the track changes little before the last scoring.
    assert np.abs(scores[:, -1] - turns.leads).max() < 150
    last = turns.inputs[:, -1]
    assert not last[:, len(USED) :].any()  # no turns are left, and the first has moved


def made_up(games: int) -> Turns:
    """Return games in which a point on the track is worth 1, and a castle point 2."""
    rng = np.random.default_rng(1)
    count = len(USED)
    inputs = np.zeros((games, 6, 2 * count + 2))
    inputs[:, :, :count] = rng.normal(size=(1, 1, count))
    change = rng.normal(size=(games, 1, 2))
    at = [USED.index("score"), USED.index("castles")]
    signs = np.tile([1.0, -1.0], (games, 3))
    inputs[:, :, at] = change * signs[:, :, None]
    return Turns(inputs, signs, change[:, 0] @ np.array([1.0, 2.0]))


def test_weights_are_found_again() -> None:
    learned = fit(made_up(5_000))

    for weights in learned:
        assert weights["score"][0] == pytest.approx(1.0, abs=0.1)
        assert weights["castles"][0] == pytest.approx(2.0, abs=0.1)
    assert set(USED) < set(FEATURES)
