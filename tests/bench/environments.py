"""Environments for training, next to the games of PettingZoo and OpenSpiel.

`python -m tests.bench environments` prints one table, in steps of random play for each
second of CPU time. A peer whose packages are missing has no row to compare with.
"""

import time
from collections.abc import Callable
from importlib import import_module
from random import Random
from statistics import median
from typing import Any

import numpy as np

from tests.bench.sizes import size
from torres.learning import torres_v0
from torres.learning.vector import GamesStep, TorresGames

ROUNDS = size(3, short=1)
MEASUREMENT_S = size(1.0, short=0.01)
GAMES = 64
SPIEL_GAMES = (
    "python_torres",
    "python_tic_tac_toe",
    "python_kuhn_poker",
    "python_liars_poker",
    "python_team_dominoes",
)
Rate = Callable[[], float]


def turns(env: Any) -> Rate:
    """Return a measurement of an AEC environment: observe, choose, step."""
    rng = Random(1)

    def measure() -> float:
        steps = 0
        began = time.process_time()
        while time.process_time() - began < MEASUREMENT_S:
            env.reset(seed=rng.getrandbits(30))
            for _ in env.agent_iter():
                observation, _, terminated, truncated, info = env.last()
                action = None
                if not (terminated or truncated):
                    mask = _mask(observation, info)
                    action = int(rng.choice(np.flatnonzero(mask)))
                env.step(action)
                steps += 1
        return steps / (time.process_time() - began)

    return measure


def _mask(observation: Any, info: dict[str, Any]) -> Any:
    if isinstance(observation, dict):
        return observation["action_mask"]
    return info["action_mask"]


def from_lists(step: GamesStep, rng: np.random.Generator) -> Any:
    """Choose at random as docs/environments.md does."""
    return step.legal[rng.integers(step.starts[:-1], step.starts[1:])]


def from_masks(step: GamesStep, rng: np.random.Generator) -> Any:
    """Choose as a network does, with a number for each action id."""
    return (step.masks * rng.random(step.masks.shape, np.float32)).argmax(axis=1)


def many(choose: Callable[[GamesStep, np.random.Generator], Any]) -> Rate:
    """Return a measurement of many games in one call, with the choice of actions."""
    games = TorresGames(GAMES)
    rng = np.random.default_rng(1)

    def measure() -> float:
        step = games.reset(seed=1)
        steps = 0
        began = time.process_time()
        while time.process_time() - began < MEASUREMENT_S:
            step = games.step(choose(step, rng))
            steps += GAMES
        return steps / (time.process_time() - began)

    return measure


def moves(name: str) -> Rate | None:
    """Return a measurement of a game of OpenSpiel: legal actions, choose, apply."""
    try:
        import_module("torres.learning.openspiel")
        import_module("open_spiel.python.games")
        game = import_module("pyspiel").load_game(name)
    except ImportError:
        return None
    rng = Random(1)

    def measure() -> float:
        steps = 0
        began = time.process_time()
        while time.process_time() - began < MEASUREMENT_S:
            state = game.new_initial_state()
            while not state.is_terminal():
                state.apply_action(rng.choice(state.legal_actions()))
                steps += 1
        return steps / (time.process_time() - began)

    return measure


def measure() -> list[tuple[str, float | None, str, bool]]:
    """Return rows of (name, number or None, target, True if the target is met)."""
    rates = {
        "torres": turns(torres_v0.env()),
        "games": many(from_lists),
        "games, choice from masks": many(from_masks),
        "chess": _peer("chess_v6"),
        "connect four": _peer("connect_four_v3"),
        **{f"OpenSpiel {name}": moves(name) for name in SPIEL_GAMES},
    }
    found: dict[str, list[float]] = {name: [] for name in rates}
    for _ in range(ROUNDS):
        for name, rate in rates.items():
            if rate:
                found[name].append(rate())
    return _rows({name: median(values) for name, values in found.items() if values})


def _peer(name: str) -> Rate | None:
    try:
        return turns(import_module(f"pettingzoo.classic.{name}").env())
    except ImportError:
        return None


def _rows(found: dict[str, float]) -> list[tuple[str, float | None, str, bool]]:
    def row(
        what: str, mine: str, theirs: str, least: float
    ) -> tuple[str, float | None, str, bool]:
        if theirs not in found:
            return what, None, f"≥ {least}", True
        ratio = found[mine] / found[theirs]
        return what, ratio, f"≥ {least}", ratio >= least

    return [
        row("steps of torres_v0 to those of PettingZoo chess", "torres", "chess", 5),
        row("games in one call to torres_v0, steps", "games", "torres", 20),
        row(
            "moves of Torres to those of tic-tac-toe, both in Python for OpenSpiel",
            "OpenSpiel python_torres",
            "OpenSpiel python_tic_tac_toe",
            1,
        ),
        *((f"{name}, steps a second", rate, "-", True) for name, rate in found.items()),
    ]
