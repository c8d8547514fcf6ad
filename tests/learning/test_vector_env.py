"""The vector environment of Gymnasium, and the wrappers of Gymnasium around it."""

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers.vector import DictInfoToList, RecordEpisodeStatistics

from engine.errors import BadSwitch, IllegalAction
from engine.kernel import Position
from engine.observation import OBSERVATION_SIZE, Observer
from torres.learning.rewards import rewards_of
from torres.learning.vector import TorresGames
from torres.learning.vector_env import TorresVectorEnv

NAME = "torres.learning.vector_env:TorresSelfPlay-v0"


def choose(masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.array([rng.choice(np.flatnonzero(mask)) for mask in masks])


def observed(position: Position, seat: int) -> list[float]:
    numbers = np.empty(OBSERVATION_SIZE, np.float32)
    Observer().observe(position, int(seat), numbers, 0)
    return numbers.tolist()


def test_the_games_are_those_of_torres_games() -> None:
    environment = TorresVectorEnv(3, "torres-3d", 3, reward="margin")
    games = TorresGames(3, "torres-3d", 3, reward="margin")
    observations, infos = environment.reset(seed=2)
    step = games.reset(seed=2)
    rng = np.random.default_rng(1)
    ended = 0
    while ended < 4:
        assert environment.observation_space.contains(observations)
        assert np.array_equal(observations, step.observations)
        assert np.array_equal(infos["action_mask"], step.masks)
        assert np.array_equal(infos["seat"], step.seats)
        actions = choose(step.masks, rng)
        assert environment.action_space.contains(actions)
        acted = step.seats.copy()
        step = games.step(actions)
        observations, rewards, finished, truncated, infos = environment.step(actions)
        assert np.array_equal(finished, step.finished)
        assert not truncated.any()
        assert np.array_equal(infos["rewards"], step.rewards)
        assert rewards.tolist() == step.rewards[np.arange(3), acted].tolist()
        ended += int(finished.sum())


def test_the_last_observation_of_a_game_is_kept() -> None:
    environment = TorresVectorEnv(2)
    _, infos = environment.reset(seed=3)
    rng = np.random.default_rng(2)
    finished = np.zeros(2, bool)
    while not finished.any():
        assert "final_obs" not in infos
        acted = infos["seat"]
        actions = choose(infos["action_mask"], rng)
        _, _, finished, _, infos = environment.step(actions)

    assert np.array_equal(infos["_final_obs"], finished)
    for number, position in environment.games.ended.items():
        final = infos["final_obs"][number]
        assert final in environment.single_observation_space
        assert final.tolist() == observed(position, acted[number])
        assert final.tolist() != observed(position, 1 - acted[number])
        assert infos["rewards"][number].tolist() == rewards_of(position, "rank")
    assert [row is None for row in infos["final_obs"]] == (~finished).tolist()


def test_gymnasium_makes_it_by_its_name_and_wraps_it() -> None:
    made = gymnasium.make_vec(NAME, num_envs=4, seats=3, switches={"max_buys": 1})
    assert isinstance(made, TorresVectorEnv)
    assert made.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    recorded = RecordEpisodeStatistics(made)
    wrapped = DictInfoToList(recorded)
    _, infos = wrapped.reset(seed=1)
    rng = np.random.default_rng(3)
    while recorded.episode_count < 4:
        actions = choose(np.array([info["action_mask"] for info in infos]), rng)
        _, _, finished, _, infos = wrapped.step(actions)
        for info, has_ended in zip(infos, finished, strict=True):
            assert ("episode" in info) == ("final_obs" in info) == bool(has_ended)
    assert min(recorded.length_queue) > 50
    wrapped.close()


def test_arrays_stay_as_they_were_returned() -> None:
    environment = TorresVectorEnv(2)
    observations, infos = environment.reset(seed=1)
    kept = observations.copy(), infos["action_mask"].copy(), infos["seat"].copy()
    rng = np.random.default_rng(4)
    for _ in range(20):
        environment.step(choose(environment.games.masks, rng))

    assert np.array_equal(observations, kept[0])
    assert np.array_equal(infos["action_mask"], kept[1])
    assert np.array_equal(infos["seat"], kept[2])


def test_wrong_arguments_and_actions_are_refused() -> None:
    with pytest.raises(BadSwitch):
        TorresVectorEnv(2, "chess")
    with pytest.raises(ValueError, match="games is 0"):
        TorresVectorEnv(0)
    environment = TorresVectorEnv(2)
    environment.reset(seed=1)
    with pytest.raises(IllegalAction, match="in game 0"):
        environment.step(np.array([-1, -1]))
    with pytest.raises(ValueError, match="actions for"):
        environment.step(np.array([1]))
