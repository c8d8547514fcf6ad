"""Torres as an environment of PettingZoo: its own tests, and the ones of PettingZoo."""

import re
import subprocess
import sys
import warnings
from pathlib import Path
from random import Random
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from pettingzoo.test import api_test, render_test, seed_test

from engine.errors import BadSwitch, IllegalAction
from engine.moves import OVER
from engine.observation import ACTIONS
from engine.rulesets import PRESETS
from torres.learning import torres_v0

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/environments.md").read_text()
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
USUAL = {("yucata", 2), ("torres-3d", 3), ("devir-2017-shared-deck", 4)}
TABLES = [
    pytest.param(
        ruleset,
        seats,
        marks=[] if (ruleset, seats) in USUAL else [pytest.mark.deep],
    )
    for ruleset in PRESETS
    for seats in (2, 3, 4)
]


ABOUT_MASKS = {
    # PettingZoo says so of every environment with an action mask that is not its own.
    "Observation is not a NumPy array",
    (
        "Observation space for each agent probably should be gymnasium.spaces.box or "
        "gymnasium.spaces.discrete"
    ),
    # The last observations of a game: nothing is legal when it is over.
    "Action mask numpy array is all zeros (no legal actions).",
}


def play(env: Any, seed: int, steps: int | None = None) -> list[str]:
    """Play random legal actions, and return their strings."""
    rng = Random(seed)
    env.reset(seed=seed)
    played: list[str] = []
    while not any(env.terminations.values()) and not any(env.truncations.values()):
        if len(played) == steps:
            break
        mask = env.observe(env.agent_selection)["action_mask"]
        action = int(rng.choice(np.flatnonzero(mask)))
        played.append(env.unwrapped.action_text(action))
        env.step(action)
    return played


@pytest.mark.parametrize(("ruleset", "seats"), TABLES)
def test_the_tests_of_pettingzoo_pass(ruleset: str, seats: int) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        api_test(torres_v0.env(ruleset=ruleset, seats=seats), num_cycles=150)
        seed_test(lambda: torres_v0.env(ruleset=ruleset, seats=seats), num_cycles=60)

    assert {str(warning.message) for warning in caught} <= ABOUT_MASKS


@pytest.mark.parametrize(("ruleset", "seats"), TABLES)
def test_the_render_test_of_pettingzoo_passes(ruleset: str, seats: int) -> None:
    render_test(
        lambda render_mode: torres_v0.env(
            ruleset=ruleset, seats=seats, render_mode=render_mode
        ),
        custom_tests={"svg": lambda drawing: drawing.startswith("<svg ")},
    )


@pytest.mark.parametrize(("ruleset", "seats"), TABLES)
def test_a_game_is_played_to_its_end(ruleset: str, seats: int) -> None:
    env = torres_v0.env(ruleset=ruleset, seats=seats)
    played = play(env, 3)

    assert env.unwrapped.position.decision == OVER
    assert len(played) > 40
    assert sum(env.rewards.values()) == pytest.approx(0)
    assert max(env.rewards.values()) == 1


@pytest.mark.parametrize("cycles", [1, 7])
def test_a_game_is_cut_off_after_max_cycles(cycles: int) -> None:
    env = torres_v0.env(max_cycles=cycles)
    played = play(env, 1)

    assert len(played) == cycles
    assert env.truncations == {"seat_0": True, "seat_1": True}
    assert set(env.rewards.values()) == {0}


def test_one_seed_fixes_a_series_of_games() -> None:
    env, again = torres_v0.raw_env(), torres_v0.raw_env()
    games = []
    for one in (env, again):
        one.reset(seed=5)
        one.reset()
        games.append(one.state().tolist())
        one.reset(seed=6)
        games.append(one.unwrapped.rules)
    first = torres_v0.raw_env()
    first.reset(seed=5)

    assert games[0] == games[2]
    decks = [list(e.position.cards.deck) for e in (env, again, first)]
    assert decks[0] == decks[1] != decks[2]


def test_the_margin_is_the_lead_in_hundreds_of_points() -> None:
    env = torres_v0.raw_env(seats=3, reward="margin")
    play(env, 2)
    scores = list(env.position.track.scores)[:3]

    for seat, agent in enumerate(env.possible_agents):
        best = max(score for s, score in enumerate(scores) if s != seat)
        assert env.rewards[agent] == (scores[seat] - best) / 100


def test_an_illegal_action_ends_the_checked_game() -> None:
    env = torres_v0.env()
    env.reset(seed=1)
    agent = env.agent_selection
    mask = env.observe(agent)["action_mask"]
    env.step(int(np.flatnonzero(mask == 0)[0]))

    assert env.rewards[agent] == -1
    assert all(env.terminations.values())


def test_an_illegal_action_is_refused_by_the_raw_game() -> None:
    env = torres_v0.raw_env()
    env.reset(seed=1)
    illegal = int(
        np.flatnonzero(env.observe(env.agent_selection)["action_mask"] == 0)[0]
    )
    for action in (illegal, -1, len(ACTIONS)):
        with pytest.raises(IllegalAction):
            env.step(action)


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(BadSwitch, match="unknown ruleset"):
        torres_v0.raw_env(ruleset="chess")
    with pytest.raises(BadSwitch, match="5 seats"):
        torres_v0.raw_env(seats=5)
    with pytest.raises(ValueError, match="reward is 'win'"):
        torres_v0.raw_env(reward="win")
    with pytest.raises(ValueError, match="render_mode is 'gif'"):
        torres_v0.raw_env(render_mode="gif")


def test_the_pictures_show_the_game(capsys: pytest.CaptureFixture[str]) -> None:
    text = torres_v0.raw_env(render_mode="ansi")
    play(text, 1, steps=30)
    pixels = torres_v0.raw_env(render_mode="rgb_array")
    play(pixels, 1, steps=30)
    board, picture = text.render(), pixels.render()

    assert board.splitlines()[0].startswith("8 ")
    assert board.count("K") == 1
    assert picture.shape[1:] == (524, 3)
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 20
    drawn = torres_v0.raw_env(render_mode="svg")
    play(drawn, 1, steps=30)
    drawing = ET.fromstring(drawn.render())
    assert drawing.tag.endswith("}svg")
    assert len(list(drawing.iter())) > 20
    printing = torres_v0.raw_env(render_mode="human")
    play(printing, 1, steps=2)
    assert capsys.readouterr().out.count("seat_1 0") == 2
    assert printing.render() is None
    assert capsys.readouterr().out.startswith("8 ")
    silent = torres_v0.raw_env()
    silent.reset(seed=1)
    assert silent.render() is None


@pytest.mark.slow
def test_the_examples_of_the_page_run_in_their_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    command = re.search(r"^torres (selfplay .*)$", PAGE, re.MULTILINE)
    torres = Path(sys.executable).with_name("torres")
    subprocess.run([torres, *command[1].split()], check=True, capture_output=True)
    names: dict[str, Any] = {}
    for example in EXAMPLES:
        exec(example, names)

    assert len(EXAMPLES) == 11
