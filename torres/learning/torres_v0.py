"""Torres as an environment of PettingZoo (AEC), for programs that learn to play.

    from torres.learning import torres_v0

    env = torres_v0.env(ruleset="yucata", seats=2)

It needs the extra `env`: `pip install 'torres-ladder[env]'`. docs/environments.md
explains observations, action ids and rewards.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from engine import Position, derive, kernel, resolve
from engine.editions import DEFAULT
from engine.errors import IllegalAction
from engine.moves import OVER
from engine.notation import text
from engine.observation import ACTION_COUNT, ACTIONS, OBSERVATION_SIZE, Observer
from torres.learning.drawing import RENDER_MODES, check_mode, draw
from torres.learning.rewards import Reward, check_reward, rewards_of

Observation = dict[str, np.ndarray[Any, Any]]

MAX_NUMBER = 1_000.0  # no number of an observation is larger


class TorresEnvironment(AECEnv[str, Observation, int]):
    """One game of Torres. The agents are "seat_0", "seat_1" and so on.

    - `ruleset`: the name of one of the ten rulesets.
    - `seats`: 2 to 4.
    - `switches`: switches of the rules with other values than those of the ruleset.
    - `reward`: "rank" or "margin" (`rewards_of`), given at the end of the game.
    - `max_cycles`: the number of actions after which a game is cut off, without a
      reward; None for no limit.
    - `render_mode`: "ansi" (a string), "rgb_array" (height × width × 3), "svg" (a
      string), "human" (the board is printed after each action) or None.

    Raises BadSwitch for an unknown ruleset, switch or number of seats, and ValueError
    for another wrong argument.
    """

    metadata = {
        "name": "torres_v0",
        "render_modes": list(RENDER_MODES),
        "is_parallelizable": False,
        "render_fps": 4,
    }

    def __init__(
        self,
        ruleset: str = DEFAULT,
        seats: int = 2,
        *,
        switches: Mapping[str, object] | None = None,
        reward: Reward = "rank",
        max_cycles: int | None = None,
        render_mode: str | None = None,
    ) -> None:
        super().__init__()
        self.rules = resolve(ruleset, seats, switches)
        self.reward: Reward = check_reward(reward)
        self.max_cycles = max_cycles
        self.render_mode = check_mode(render_mode)
        self.possible_agents = [f"seat_{seat}" for seat in range(seats)]
        self.agents: list[str] = []
        self.position = Position()
        self._observer = Observer()
        self._seeds = np.random.default_rng()
        self._steps = 0
        observed = spaces.Dict(
            {
                "observation": spaces.Box(
                    0.0, MAX_NUMBER, (OBSERVATION_SIZE,), np.float32
                ),
                "action_mask": spaces.Box(0, 1, (ACTION_COUNT,), np.int8),
            }
        )
        self.observation_spaces = dict.fromkeys(self.possible_agents, observed)
        self.action_spaces = {
            agent: spaces.Discrete(ACTION_COUNT) for agent in self.possible_agents
        }
        self.state_space = spaces.Box(
            0.0, MAX_NUMBER, (seats, OBSERVATION_SIZE), np.float32
        )

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of the observations of an agent; it is always the same."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of the action ids of an agent; it is always the same."""
        return self.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, object] | None = None
    ) -> None:
        """Begin a new game. Equal seeds give equal games.

        Without a seed the next game follows from the last seed, so that one seed fixes
        a whole series of games.
        """
        if seed is not None:
            self._seeds = np.random.default_rng(seed)
        game_seed = str(self._seeds.integers(2**63))
        self.position = kernel.start(self.rules, derive(self.rules, game_seed))
        self._steps = 0
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, object]] = {agent: {} for agent in self.agents}
        self.agent_selection = self.possible_agents[self.position.seat]

    def step(self, action: int | None) -> None:
        """Play the action with an id for the agent that was selected.

        Raises IllegalAction if it is not legal now.
        """
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        self.position.apply(self._move_of(action))
        self._steps += 1
        if self.position.decision == OVER:
            final = rewards_of(self.position, self.reward)
            self.rewards = dict(zip(self.possible_agents, final, strict=True))
            self.terminations = dict.fromkeys(self.agents, True)
        elif self._steps == self.max_cycles:
            self.truncations = dict.fromkeys(self.agents, True)
        if self.position.decision != OVER:
            self.agent_selection = self.possible_agents[self.position.seat]
        self._accumulate_rewards()
        self._deads_step_first()
        if self.render_mode == "human":
            self.render()

    def _move_of(self, action: int | None) -> int:
        if action is None or not 0 <= action < ACTION_COUNT:
            raise IllegalAction(action, "action ids are numbers of the action space")
        return ACTIONS[action]

    def observe(self, agent: str) -> Observation:
        """Return what an agent can see, and the mask of its legal actions.

        The mask of an agent that does not decide now is 0 everywhere.
        """
        seat = self.possible_agents.index(agent)
        numbers = np.empty(OBSERVATION_SIZE, np.float32)
        mask = np.zeros(ACTION_COUNT, np.int8)
        self._observer.observe(self.position, seat, numbers, 0)
        if seat == self.position.seat:
            self._observer.mask(self.position, mask, 0)
        return {"observation": numbers, "action_mask": mask}

    def state(self) -> np.ndarray[Any, Any]:
        """Return the observations of all seats, one row for each seat."""
        rows = np.empty((self.position.seats, OBSERVATION_SIZE), np.float32)
        for seat in range(self.position.seats):
            self._observer.observe(self.position, seat, rows[seat], 0)
        return rows

    def action_text(self, action: int) -> str:
        """Return the string of a legal action, such as "move b3 e5"."""
        return text(self.position, ACTIONS[action])

    def render(self) -> str | np.ndarray[Any, Any] | None:
        """Return the board as text, pixels or SVG; print it in the mode "human"."""
        return draw(self.position, self.rules, self.possible_agents, self.render_mode)

    def close(self) -> None:
        """Do nothing: an environment holds no window, file or process."""


raw_env = TorresEnvironment


def env(**options: Any) -> AECEnv[str, Observation, int]:  # noqa: ANN401 - passed on
    """Return a game with the usual checks around it.

    An illegal action ends the game with a reward of -1 for its agent. The options are
    those of `TorresEnvironment`.
    """
    checked = wrappers.TerminateIllegalWrapper(raw_env(**options), illegal_reward=-1)
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(checked))
