"""One learner against named bots, as an environment of Gymnasium."""

import threading
import warnings
from contextlib import closing
from pathlib import Path
from typing import Any

import click
import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from engine.errors import BadSwitch
from engine.referee import ServiceFault
from torres.learning.against import ILLEGAL_REWARD, TorresAgainst

TABLES = [
    ("yucata", ("house:greedy",)),
    ("torres-3d", ("house:random", "house:banker")),
    ("devir-2017-master", ("house:random", "house:climber", "house:banker")),
]


@pytest.fixture
def make():
    """Return a function that makes environments; they are closed in the end."""
    made = []

    def new(*arguments: Any, **options: Any) -> TorresAgainst:
        made.append(TorresAgainst(*arguments, **options))
        return made[-1]

    yield new
    for env in made:
        env.close()
    assert not [t for t in threading.enumerate() if t.name == "torres-referee"]


def play(env: TorresAgainst, seed: int) -> tuple[list[str], float, dict[str, Any]]:
    """Play a game with random legal actions: texts, last reward, last info."""
    rng = np.random.default_rng(seed)
    env.reset(seed=seed)
    texts = []
    while True:
        action = int(rng.choice(np.flatnonzero(env.action_masks())))
        texts.append(env.action_text(action))
        observation, reward, terminated, truncated, info = env.step(action)
        assert env.observation_space.contains(observation)
        assert not truncated
        if terminated:
            return texts, reward, info
        assert reward == 0
        assert env.game.seat == env.seat


@pytest.mark.parametrize(("ruleset", "opponents"), TABLES)
def test_the_check_of_gymnasium_passes(
    ruleset: str, opponents: tuple[str, ...], make
) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        check_env(make(opponents, ruleset), skip_render_check=True)

    assert [str(w.message) for w in caught if "gymnasium" in str(w.filename)] == []


@pytest.mark.parametrize(("ruleset", "opponents"), TABLES)
def test_a_game_has_its_rewards_at_the_end(
    ruleset: str, opponents: tuple[str, ...], make
) -> None:
    env = make(opponents, ruleset, reward="margin")
    _, reward, info = play(env, 3)
    others = [score for s, score in enumerate(info["scores"]) if s != info["seat"]]

    assert reward == (info["scores"][info["seat"]] - max(others)) / 100
    assert info["forfeited"] == []
    assert not env.action_masks().any()
    with pytest.raises(RuntimeError, match="call `reset`"):
        env.step(0)


def test_equal_seeds_give_equal_games_and_seats(make) -> None:
    env = make(["house:random"])
    seats = set()
    for seed in range(4):
        first, second = play(env, seed), play(env, seed)
        assert first == second
        seats.add(first[2]["seat"])
        assert first[1] == (1, -1)[first[2]["ranks"][env.seat] - 1]

    assert seats == {0, 1}


def test_opponents_sit_clockwise_behind_the_learner(make, tmp_path: Path) -> None:
    env = make(["house:random", "house:banker"], seat=1, render_mode="ansi")
    env.reset(seed=1)

    assert env.seat == 1
    assert "banker 0, learner 0, random 0" in env.render()


def test_an_illegal_action_ends_the_game(make) -> None:
    env = make()
    env.reset(seed=1)
    illegal = int(np.flatnonzero(~env.action_masks())[0])

    assert env.step(illegal)[1:4] == (ILLEGAL_REWARD, True, False)
    with pytest.raises(RuntimeError, match="call `reset`"):
        env.step(illegal)
    env.reset(seed=1)
    assert env.action_masks().any()


def test_an_opponent_that_forfeits_ends_a_game_of_two(make, tmp_path: Path) -> None:
    bot = tmp_path / "broken.py"
    bot.write_text("import sys\nsys.exit(3)\n")
    env = make([str(bot)], seat=0)
    env.reset(seed=1)

    assert env.game.over
    assert env.game.forfeited == [1]
    with pytest.raises(RuntimeError, match="call `reset`"):
        env.step(0)


def test_a_failure_of_this_machine_is_raised(
    make, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object) -> None:
        raise ServiceFault("no processes are left")

    env = make()
    monkeypatch.setattr(env._sandbox, "start", fail)
    with pytest.raises(ServiceFault, match="no processes are left"):
        env.reset(seed=1)


def test_switches_change_the_rules_of_the_learner_and_of_the_bots(make) -> None:
    env = make(["house:random"], switches={"max_buys": 0})

    texts, _, info = play(env, 3)

    assert env.rules.max_buys == 0
    assert info["forfeited"] == []
    assert not {"buy"} & set(texts)


def test_wrong_arguments_are_refused(make) -> None:
    with pytest.raises(BadSwitch, match="colour"):
        make(switches={"colour": 1})
    with pytest.raises(BadSwitch):
        make([])
    with pytest.raises(ValueError, match="there is no seat 2 in a game of 2"):
        make(seat=2)
    with pytest.raises(ValueError, match="reward is 'points'"):
        make(reward="points")
    with pytest.raises(click.BadParameter, match="no house bot 'nobody'"):
        make(["house:nobody"])
    with pytest.raises(RuntimeError, match="call `reset` first"):
        make().action_masks()


def test_gymnasium_makes_the_environment_by_its_name() -> None:
    name = "torres.learning.against:Torres-v0"
    with closing(gymnasium.make(name, opponents=["house:random"])) as env:
        _, info = env.reset(seed=1)

        assert isinstance(env.unwrapped, TorresAgainst)
        assert info["seat"] in (0, 1)
    with closing(gymnasium.make_vec(name, num_envs=2)) as several:
        observations, _ = several.reset(seed=1)

        assert observations.shape[0] == several.num_envs == 2
