"""Many games of Torres in one call, for training with a high throughput.

All observations, masks and rewards are numpy arrays with one row for each game.
docs/environments.md has an example.
"""

from typing import Any, NamedTuple

import numpy as np

from engine import derive, kernel, resolve
from engine.editions import DEFAULT
from engine.errors import IllegalAction
from engine.observation import ACTION_COUNT, OBSERVATION_SIZE, Observer
from ladder.environments.rewards import Reward, rewards_of

Array = np.ndarray[Any, Any]


class GamesStep(NamedTuple):
    """The games after one call; all arrays have one row for each game.

    The arrays `observations`, `masks` and `seats` are those of the object itself: the
    next call overwrites them.
    """

    observations: Array
    """32-bit floats, (games, OBSERVATION_SIZE): what the seat that decides can see."""
    masks: Array
    """8-bit numbers, (games, ACTION_COUNT): 1 for the legal actions of that seat."""
    seats: Array
    """The seat that decides."""
    rewards: Array
    """32-bit floats, (games, seats): 0 unless the game has just ended."""
    finished: Array
    """True for the games that have just ended. They begin anew at once."""


class TorresGames:
    """Several games of one ruleset that are played at the same time.

    Raises BadSwitch for an unknown ruleset or number of seats.
    """

    def __init__(
        self,
        games: int,
        ruleset: str = DEFAULT,
        seats: int = 2,
        *,
        reward: Reward = "rank",
    ) -> None:
        self.rules = resolve(ruleset, seats)
        self.reward: Reward = reward
        self.observations = np.zeros((games, OBSERVATION_SIZE), np.float32)
        self.masks = np.zeros((games, ACTION_COUNT), np.int8)
        self.seats = np.zeros(games, np.intc)
        self._finished = np.zeros(games, np.int8)
        self._observer = Observer()
        self._seeds = np.random.default_rng()
        self._positions = [self._new_game() for _ in range(games)]

    def _new_game(self) -> kernel.Position:
        seed = str(self._seeds.integers(2**63))
        return kernel.start(self.rules, derive(self.rules, seed))

    def reset(self, seed: int | None = None) -> GamesStep:
        """Begin all games anew. Equal seeds give equal games, and equal later ones."""
        if seed is not None:
            self._seeds = np.random.default_rng(seed)
        self._positions = [self._new_game() for _ in self._positions]
        self.masks.fill(0)
        self._finished.fill(0)
        return self._observed()

    def step(self, actions: Array) -> GamesStep:
        """Play one action in each game.

        Raises IllegalAction, and changes nothing, if one of them is not legal.
        """
        wanted = np.ascontiguousarray(actions, np.int64)
        if wanted.shape != self.seats.shape:
            raise ValueError(f"{wanted.shape} actions for {self.seats.shape} games")
        illegal = self._observer.step_all(
            self._positions, wanted, self.masks.reshape(-1), self._finished
        )
        if illegal >= 0:
            raise IllegalAction(
                int(wanted[illegal]), f"this action is not legal in game {illegal}"
            )
        return self._observed()

    def _observed(self) -> GamesStep:
        rewards = np.zeros((len(self._positions), self.rules.seats), np.float32)
        for number in np.flatnonzero(self._finished):
            rewards[number] = rewards_of(self._positions[number], self.reward)
            self._positions[number] = self._new_game()
        self._observer.observe_all(
            self._positions,
            self.seats,
            self.observations.reshape(-1),
            self.masks.reshape(-1),
        )
        finished = self._finished.astype(np.bool_)
        return GamesStep(self.observations, self.masks, self.seats, rewards, finished)
