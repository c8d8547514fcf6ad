"""Measure whether stories name the worst turn of a game, and a turn that is better.

`python -m tests.bench stories [GAMES]` plays games between house bots of different
strength: GAMES at each of four tables of two seats, and half as many at a table of
three and one of four. The analysis of each game is compared with an independent one:
other random numbers, a wider beam and more games. 30 games take an hour of a core.
"""

import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from random import Random
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from engine import TorresGame
from engine.analysis import Outlook, Policy, reshuffled
from engine.better_turns import BetterTurn
from engine.kernel import Position
from engine.moves import BUY, END, TURN
from engine.notation import text
from engine.replay import play_again
from engine.replay_format import open_game
from engine.turning_points import CLEAR, Swing, analyse

TORRES = Path(sys.executable).with_name("torres")
TABLES = (
    ("greedy", "climber"),
    ("greedy", "searcher"),
    ("climber", "searcher"),
    ("searcher", "planner"),
    ("climber", "greedy", "searcher"),
    ("climber", "greedy", "searcher", "banker"),
)
WIDTH = 2
FIRST_GAMES = 24  # of the narrow beam
GAMES = 96
COMPARED = 4
"""The turns with the largest drops at first, which get all games."""


class Drop(NamedTuple):
    """How much of its chance a seat lost by a turn."""

    chance: float
    error: float


class StoryFigures(NamedTuple):
    """One story: its cost, and what the independent evaluation says.

    `named` and `largest` are the drops of the turn that the story names, and of the
    worst one. `repeats` tells whether the evaluation finds this turn again with other
    random numbers. `gains` tells by how much the better turns are better.
    """

    seats: int
    cpu_s: float
    is_largest: bool
    repeats: bool
    named: Drop | None
    largest: Drop
    gains: list[float]


def play(bots: Sequence[str], games: int, folder: Path) -> list[Path]:
    """Play games of house bots; return the files of their replays."""
    names = [f"house:{bot}" for bot in bots]
    options = ["--games", str(games), "--seed", "stories", "--replays", str(folder)]
    state = ["--state", str(folder / "state"), "--jobs", "2"]
    subprocess.run(
        [TORRES, "match", *names, *options, *state],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return sorted(folder.glob("*.json"))


def figures(path: Path) -> StoryFigures:
    """Compute the story of a game, and evaluate it independently."""
    replay = json.loads(path.read_bytes())
    judge, again = GameJudge(replay, "judge"), GameJudge(replay, "again")
    drops = judge.largest_drops()
    others = again.largest_drops()
    began = time.process_time()
    story = analyse(replay)
    cpu_s = time.process_time() - began
    losses = [story["swings"][index] for index in story["turning_points"]]
    named = next((swing for swing in losses if swing["chance"] < 0), None)
    if named is not None and named["ply"] not in drops:
        drops[named["ply"]] = judge.drop(named)
    worst = max(drops, key=lambda ply: drops[ply].chance)
    return StoryFigures(
        seats=replay["seats"],
        cpu_s=cpu_s,
        is_largest=named is not None and named["ply"] == worst,
        repeats=max(others, key=lambda ply: others[ply].chance) == worst,
        named=named and drops[named["ply"]],
        largest=drops[worst],
        gains=[judge.gain(turn) for turn in story["better"]],
    )


class GameJudge:
    """Evaluates the turns of a game with other random numbers than its story."""

    def __init__(self, replay: dict[str, Any], seed: str) -> None:
        self._seed = seed
        rules = open_game(replay).rules
        self._narrow, self._policy = Policy(rules), Policy(rules, WIDTH)
        self._turns = analyse(replay, 1)["swings"]  # for the borders of the turns
        plies = {ply for turn in self._turns for ply in (turn["ply"], turn["end"])}
        self._starts: dict[int, Position] = {}

        def watch(game: TorresGame, _: str) -> None:
            if game.ply in plies:
                self._starts[game.ply] = game.position.copy()

        game = play_again(replay, watch)
        self._starts[game.ply] = game.position.copy()

    def largest_drops(self) -> dict[int, Drop]:
        """Return the turns that cost most, by their ply."""
        first = {
            ply: self._outlook(self._narrow, ply, FIRST_GAMES) for ply in self._starts
        }

        def change(turn: Swing) -> float:
            seat = turn["seat"]
            return first[turn["end"]].chances[seat] - first[turn["ply"]].chances[seat]

        worst = sorted(self._turns, key=change)[:COMPARED]
        return {turn["ply"]: self.drop(turn) for turn in worst}

    def drop(self, turn: Swing) -> Drop:
        before = self._outlook(self._policy, turn["ply"], GAMES)
        after = self._outlook(self._policy, turn["end"], GAMES)
        return _difference(before, after, turn["seat"])

    def gain(self, turn: BetterTurn) -> float:
        """Return by how much a turn is better than the one that was played."""
        position = self._starts[turn["ply"]]
        [played] = [each for each in self._turns if each["ply"] == turn["ply"]]

        def start(rng: Random) -> Position:
            world = reshuffled(position, rng)
            move = 0
            for action in turn["actions"]:
                move = {text(world, move): move for move in world.legal()}[action]
                world.perform(move)
            plays = world.decision == TURN and world.seat == position.seat
            if move >> 16 != BUY and plays:
                world.perform(END << 16)
            return world

        better = self._policy.outlook(start, GAMES, f"{self._seed} {GAMES}")
        after = self._outlook(self._policy, played["end"], GAMES)
        return _difference(better, after, position.seat).chance

    def _outlook(self, policy: Policy, ply: int, games: int) -> Outlook:
        start = partial(reshuffled, self._starts[ply])
        return policy.outlook(start, games, f"{self._seed} {games}")


def _difference(before: Outlook, after: Outlook, seat: int) -> Drop:
    error = after.change_error(before, seat)
    return Drop(before.chances[seat] - after.chances[seat], error)


def report(arguments: list[str]) -> None:
    """Play the games and print all figures."""
    each = int(arguments[0]) if arguments else 6
    measured: list[StoryFigures] = []
    with TemporaryDirectory() as name, ProcessPoolExecutor(os.cpu_count()) as pool:
        folders = [(bots, Path(name) / "-".join(bots)) for bots in TABLES]
        paths = [
            path
            for bots, folder in folders
            for path in play(bots, each if len(bots) == 2 else each // 2, folder)
        ]
        for one in pool.map(figures, paths):
            measured.append(one)
            print(one, file=sys.stderr, flush=True)
    for seats in (2, 3, 4):
        part = [one for one in measured if one.seats == seats]
        if part:
            print(f"{seats} seats: {'; '.join(_lines(part))}")
    print(f"all: {'; '.join(_lines(measured))}")


def _lines(part: Sequence[StoryFigures]) -> Iterator[str]:
    named = [one for one in part if one.named is not None]
    right = sum(one.is_largest for one in named)
    near = sum(
        one.largest.chance - one.named.chance
        <= CLEAR * math.hypot(one.largest.error, one.named.error)
        for one in named
        if one.named
    )
    gains = [gain for one in part for gain in one.gains]
    costs = sorted(one.cpu_s for one in part)
    yield f"{len(part)} games, {len(named)} with a named turn"
    yield f"the largest drop: {right} of {len(named)}, or not clearly smaller: {near}"
    again = sum(one.repeats for one in part)
    yield f"the evaluation repeats its own largest drop: {again} of {len(part)}"
    yield f"better turns that are better: {sum(g > 0 for g in gains)} of {len(gains)}"
    yield f"CPU: {fmean(costs):.1f} s on average, {costs[-1]:.1f} s at most"
