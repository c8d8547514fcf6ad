"""Many games of Torres as a vector environment of Gymnasium.

    from torres.learning.vector_env import TorresVectorEnv

    games = TorresVectorEnv(8, ruleset="yucata")

or `gymnasium.make_vec("torres.learning.vector_env:TorresSelfPlay-v0", num_envs=8)`.

It needs the extra `env`. One program plays all seats of all games.
docs/environments.md has an example.
"""

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from engine.editions import DEFAULT
from engine.observation import ACTION_COUNT, OBSERVATION_SIZE, Observer
from torres.learning.rewards import Reward
from torres.learning.torres_v0 import MAX_NUMBER
from torres.learning.vector import Array, GamesStep, TorresGames


class TorresVectorEnv(VectorEnv[Array, Array, Array]):
    """The games of `TorresGames`, whose arguments it takes.

    - An observation is that of the seat that decides. `infos` has, of each game, this
      seat as "seat", its legal actions as "action_mask", and as "rewards" the rewards
      of all seats.
    - A reward is that of the seat that has just acted: 0 unless the game has ended.
    - A game that has ended begins anew at once. Then "final_obs" of `infos` is the last
      observation of the seat that has acted.

    All arrays are copies. Raises BadSwitch and ValueError as `TorresGames` does.
    """

    metadata = {"autoreset_mode": AutoresetMode.SAME_STEP}

    def __init__(
        self,
        num_envs: int = 1,
        ruleset: str = DEFAULT,
        seats: int = 2,
        *,
        switches: Mapping[str, object] | None = None,
        reward: Reward = "rank",
    ) -> None:
        self.games = TorresGames(
            num_envs, ruleset, seats, switches=switches, reward=reward
        )
        self.num_envs = num_envs
        self.single_observation_space = spaces.Box(
            0.0, MAX_NUMBER, (OBSERVATION_SIZE,), np.float32
        )
        self.single_action_space = spaces.Discrete(ACTION_COUNT)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._observer = Observer()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Begin all games anew. Equal seeds give equal games, and equal later ones."""
        super().reset(seed=seed, options=options)
        step = self.games.reset(seed)
        return step.observations.copy(), _infos(step)

    def step(self, actions: Array) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        """Play one action in each game. Raises IllegalAction and ValueError.

        No game is ever cut off, so the fourth array, the truncations, is False.
        """
        acted = self.games.seats.copy()
        step = self.games.step(actions)
        infos = _infos(step)
        if self.games.ended:
            infos["final_obs"] = self._last_observations(acted)
            infos["_final_obs"] = step.finished
        rewards = step.rewards[np.arange(self.num_envs), acted]
        truncations = np.zeros(self.num_envs, np.bool_)
        return step.observations.copy(), rewards, step.finished, truncations, infos

    def _last_observations(self, acted: Array) -> Array:
        final = np.full(self.num_envs, None, object)
        for number, position in self.games.ended.items():
            final[number] = np.empty(OBSERVATION_SIZE, np.float32)
            self._observer.observe(position, int(acted[number]), final[number], 0)
        return final


def _infos(step: GamesStep) -> dict[str, Any]:
    return {
        "seat": step.seats.copy(),
        "action_mask": step.masks.copy(),
        "rewards": step.rewards,
    }


gymnasium.register(
    "TorresSelfPlay-v0", vector_entry_point=f"{__name__}:{TorresVectorEnv.__name__}"
)
