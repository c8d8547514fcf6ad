"""The training of the house bot `champion`."""

import json
import sys
from itertools import chain
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
    assert list(learned) == ["2", "3", "4"]
    for weights in chain(*learned.values()):
        assert set(weights) == {*USED, "master"}
        assert weights["master"] == weights["castles"]


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_all_turns_of_a_game_are_noted(seats: int) -> None:
    rules = resolve("yucata", seats)
    turns = play_games(rules, "turns", 6, RoundSearches(rules, champion.PROMISE))
    scores = turns.inputs[..., USED.index("score")]
    rounds = [len(stacks) for stacks in rules.stacks]
    seats_of_a_round = turns.movers.reshape(6, sum(rounds), seats)

    assert turns.inputs.shape == (6, seats * sum(rounds), seats, 2 * len(USED) + 2)
    assert (np.sort(seats_of_a_round) == np.arange(seats)).all()
    # Each number is a lead, and all leads at a table are 0 together.
    assert turns.leads.sum(axis=1) == pytest.approx(0.0)
    assert scores.sum(axis=2) == pytest.approx(0.0, abs=1e-3)
    # The leads on the track change little before the last scoring.
    assert np.abs(scores[:, -1] - turns.leads).max() < 150
    left = turns.inputs[..., -2]
    assert not left[:, -1].any()  # no seat has a turn left
    first = np.take_along_axis(left[:, 0], turns.movers[:, :1], axis=1)
    assert first == pytest.approx(-1.0)  # the others have one turn more


def made_up(games: int) -> Turns:
    """Return games in which a point on the track is worth 1, and a castle point 2."""
    rng = np.random.default_rng(1)
    count = len(USED)
    turns = 2 * sum(len(stacks) for stacks in RULES.stacks)
    inputs = np.zeros((games, turns, 2, 2 * count + 2))
    inputs[..., :count] = rng.normal(size=count)
    leads = rng.normal(size=(games, 1, 2))
    at = [USED.index("score"), USED.index("castles")]
    inputs[:, :, 0, at] = leads
    inputs[:, :, 1, at] = -leads
    movers = np.tile(np.arange(turns) % 2, (games, 1))
    worth = leads[:, 0] @ np.array([1.0, 2.0])
    return Turns(inputs, movers, np.stack([worth, -worth], axis=1))


def test_weights_are_found_again() -> None:
    learned = fit(RULES, made_up(3_000))

    for weights in learned:
        assert weights["score"][0] == pytest.approx(1.0, abs=0.1)
        assert weights["castles"][0] == pytest.approx(2.0, abs=0.1)
    assert set(USED) < set(FEATURES)
