"""Many games of Torres in one call, for training with a high throughput.

All observations, masks and rewards are numpy arrays with one row for each game.
docs/environments.md has an example.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Self

import numpy as np

from engine import derive, kernel, resolve
from engine.editions import DEFAULT
from engine.errors import IllegalAction
from engine.moves import OVER
from engine.observation import (
    ACTION_COUNT,
    MAX_LEGAL,
    OBSERVATION_SIZE,
    Observer,
)
from torres.learning.rewards import Reward, check_reward, rewards_of

Array = np.ndarray[Any, Any]
MAX_GAMES = 100_000  # their masks have 2 GB


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
    legal: Array
    """16-bit numbers: the ids of all legal actions, game after game."""
    starts: Array
    """32-bit numbers, (games + 1): those of game `g` are legal[starts[g]:starts[g+1]].

    A mask is far longer than the list of its actions. So this is the fast way to choose
    at random: `rng.choice` of a mask takes longer than all games together.
    """


class TorresGames:
    """Several games of one ruleset that are played at the same time.

    `games` is their number, or the positions from which they go on. `switches` are
    switches of the rules with other values than those of the ruleset.

    Raises BadSwitch for an unknown ruleset, switch or number of seats, and ValueError
    for another wrong argument, such as a game that is over.
    """

    def __init__(
        self,
        games: int | list[kernel.Position] | tuple[kernel.Position, ...],
        ruleset: str = DEFAULT,
        seats: int = 2,
        *,
        switches: Mapping[str, object] | None = None,
        reward: Reward = "rank",
    ) -> None:
        count = len(games) if isinstance(games, list | tuple) else games
        if count not in range(1, MAX_GAMES + 1):
            raise ValueError(f"games is {count!r}; use a number from 1 to {MAX_GAMES}")
        self.rules = resolve(ruleset, seats, switches)
        self.reward: Reward = check_reward(reward)
        self.observations = np.zeros((count, OBSERVATION_SIZE), np.float32)
        self.masks = np.zeros((count, ACTION_COUNT), np.int8)
        self.seats = np.zeros(count, np.intc)
        # The mask of a game is set back with its list, which so has to be our own.
        self._legal = np.empty(count * MAX_LEGAL, np.int16)
        self._starts = np.zeros(count + 1, np.intc)
        self._finished = np.zeros(count, np.int8)
        self.ended: dict[int, kernel.Position] = {}
        """The last positions of the games that have just ended, by their numbers."""
        self._observer = Observer()
        self._seeds = np.random.default_rng()
        if isinstance(games, list | tuple):
            self._positions = [self._going_on(position) for position in games]
        else:
            self._positions = [self._new_game() for _ in range(games)]

    def copy(self, numbers: Iterable[int] | None = None) -> Self:
        """Return other games that go on from these, as they are now.

        `numbers` chooses games, each as often as it occurs; without it all are copied.
        The hidden cards are the same. Raises IndexError for a number without a game.
        """
        chosen = range(len(self._positions)) if numbers is None else numbers
        return type(self)(
            [self._positions[number] for number in chosen],
            self.rules.ruleset,
            self.rules.seats,
            switches=self.rules.switches(),
            reward=self.reward,
        )

    def _going_on(self, position: kernel.Position) -> kernel.Position:
        seats = self.rules.seats
        is_position = isinstance(position, kernel.Position)
        if not is_position or position.decision == OVER or position.seats != seats:
            raise ValueError(f"use positions of {seats} seats that are not over")
        return position.copy()

    def _new_game(self) -> kernel.Position:
        seed = str(self._seeds.integers(2**63))
        return kernel.start(self.rules, derive(self.rules, seed))

    def reset(self, seed: int | None = None) -> GamesStep:
        """Begin all games anew. Equal seeds give equal games, and equal later ones."""
        if seed is not None:
            self._seeds = np.random.default_rng(seed)
        self._positions = [self._new_game() for _ in self._positions]
        self.masks.fill(0)
        return self.observe()

    def observe(self) -> GamesStep:
        """Return what `step` would return if nothing had been played."""
        self._finished.fill(0)
        return self._observed()

    def step(self, actions: Array) -> GamesStep:
        """Play one action in each game.

        `actions` has one whole number for each game. Raises IllegalAction if one of
        them is not legal, and ValueError for another shape or type; then no game has
        changed.
        """
        given = np.asarray(actions)
        if given.dtype.kind not in "iu":
            raise ValueError(f"the actions are {given.dtype}, not whole numbers")
        if given.shape != self.seats.shape:
            raise ValueError(f"{given.shape} actions for {self.seats.shape} games")
        wanted = np.ascontiguousarray(given, np.int64)
        illegal = self._observer.step_all(
            self._positions,
            wanted,
            self.masks.reshape(-1),
            self._legal,
            self._starts,
            self._finished,
        )
        if illegal >= 0:
            raise IllegalAction(
                int(given[illegal]), f"this action is not legal in game {illegal}"
            )
        return self._observed()

    def _observed(self) -> GamesStep:
        rewards = np.zeros((len(self._positions), self.rules.seats), np.float32)
        finished = np.flatnonzero(self._finished).tolist()
        self.ended = {number: self._positions[number] for number in finished}
        for number, position in self.ended.items():
            rewards[number] = rewards_of(position, self.reward)
            self._positions[number] = self._new_game()
        self._observer.observe_all(
            self._positions,
            self.seats,
            self.observations.reshape(-1),
            self.masks.reshape(-1),
            self._legal,
            self._starts,
        )
        return GamesStep(
            self.observations,
            self.masks,
            self.seats,
            rewards,
            self._finished.astype(np.bool_),
            self._legal[: self._starts[-1]].copy(),
            self._starts.copy(),
        )
