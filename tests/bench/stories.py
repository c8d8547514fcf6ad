"""Measure whether stories name the worst turn of a game, and a turn that is better.

`python -m tests.bench stories [GAMES [FIRST]]` plays games between house bots of
different strength: GAMES at each of four tables of two seats, and half as many at a
table of three and one of four. The analysis of each game is compared with an
independent one: other random numbers, a beam of four positions instead of two, and more
games. 30 games of two seats take 20 minutes of a core. FIRST is the number of the game
with which the evaluation begins, after an earlier run that did not end.
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
from engine.turning_points import CLEAR, analyse

TORRES = Path(sys.executable).with_name("torres")
TABLES = (
    ("greedy", "climber"),
    ("greedy", "searcher"),
    ("climber", "searcher"),
    ("searcher", "planner"),
    ("climber", "greedy", "searcher"),
    ("climber", "greedy", "searcher", "banker"),
)
FIRST_WIDTH = 2
WIDTH = 4
FIRST_GAMES = 24
ROUNDS = ((4, 48), (2, 96), (2, 384))
"""The turns with the largest drops, and the games at each with the widest beam. The
last round is for games in which no turn is clearly the worst."""
BETTER_GAMES = 48
"""The games from a better turn and from the one that was played."""


class Drop(NamedTuple):
    """How much of its chance a seat lost by a turn."""

    chance: float
    error: float


class StoryFigures(NamedTuple):
    """One story: its cost, and what the independent evaluation says.

    `named` and `largest` are the drops of the turn that the story names, and of the
    worst one. `gains` tells by how much the better turns are better. A story that names
    no turn is not evaluated.
    """

    seats: int
    cpu_s: float
    is_largest: bool
    named: Drop | None
    largest: Drop | None
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
    began = time.process_time()
    story = analyse(replay)
    cpu_s = time.process_time() - began
    losses = [story["swings"][index] for index in story["turning_points"]]
    named = next((swing["ply"] for swing in losses if swing["chance"] < 0), None)
    if named is None:
        return StoryFigures(replay["seats"], cpu_s, False, None, None, [])
    judge = GameJudge(replay)
    drops = judge.largest_drops(named)
    worst = max(drops, key=lambda ply: drops[ply].chance)
    return StoryFigures(
        seats=replay["seats"],
        cpu_s=cpu_s,
        is_largest=named == worst,
        named=drops[named],
        largest=drops[worst],
        gains=[judge.gain(turn) for turn in story["better"]],
    )


class GameJudge:
    """Evaluates the turns of a game with other random numbers than its story."""

    def __init__(self, replay: dict[str, Any]) -> None:
        rules = open_game(replay).rules
        self._first, self._policy = Policy(rules, FIRST_WIDTH), Policy(rules, WIDTH)
        turns = analyse(replay, 1)["swings"]  # for the borders of the turns
        self._turns = {turn["ply"]: turn for turn in turns}
        plies = {ply for turn in turns for ply in (turn["ply"], turn["end"])}
        self._starts: dict[int, Position] = {}

        def watch(game: TorresGame, _: str) -> None:
            if game.ply in plies:
                self._starts[game.ply] = game.position.copy()

        game = play_again(replay, watch)
        self._starts[game.ply] = game.position.copy()

    def largest_drops(self, named: int) -> dict[int, Drop]:
        """Return the drops of the turns that cost most, and of the named one, by ply.

        Fewer and fewer turns get more and more games. The named one gets them all.
        """
        drops = {ply: self._drop(self._first, ply, FIRST_GAMES) for ply in self._turns}
        for count, games in ROUNDS:
            if games == ROUNDS[-1][1] and _worst_is_clear(drops):
                break
            worst = sorted(drops, key=lambda ply: -drops[ply].chance)[:count]
            chosen = {*worst, named}
            drops = {ply: self._drop(self._policy, ply, games) for ply in chosen}
        return drops

    def _drop(self, policy: Policy, ply: int, games: int) -> Drop:
        turn = self._turns[ply]
        before = self._outlook(policy, ply, games)
        after = self._outlook(policy, turn["end"], games)
        return _difference(before, after, turn["seat"])

    def gain(self, turn: BetterTurn) -> float:
        """Return by how much a turn is better than the one that was played."""
        position = self._starts[turn["ply"]]

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

        better = self._policy.outlook(start, BETTER_GAMES, f"judge {BETTER_GAMES}")
        end = self._turns[turn["ply"]]["end"]
        after = self._outlook(self._policy, end, BETTER_GAMES)
        return _difference(better, after, position.seat).chance

    def _outlook(self, policy: Policy, ply: int, games: int) -> Outlook:
        start = partial(reshuffled, self._starts[ply])
        return policy.outlook(start, games, f"judge {games}")


def _difference(before: Outlook, after: Outlook, seat: int) -> Drop:
    error = after.change_error(before, seat)
    return Drop(before.chances[seat] - after.chances[seat], error)


def _worst_is_clear(drops: dict[int, Drop]) -> bool:
    largest, *others = sorted(drops.values(), reverse=True)
    return not others or _is_clearly_smaller(others[0], largest)


def _is_clearly_smaller(one: Drop, other: Drop) -> bool:
    return other.chance - one.chance > CLEAR * math.hypot(one.error, other.error)


def report(arguments: list[str]) -> None:
    """Play the games and print all figures."""
    each = int(arguments[0]) if arguments else 6
    first = int(arguments[1]) if len(arguments) > 1 else 0
    measured: list[StoryFigures] = []
    with TemporaryDirectory() as name, ProcessPoolExecutor(os.cpu_count()) as pool:
        folders = [(bots, Path(name) / "-".join(bots)) for bots in TABLES]
        paths = [
            path
            for bots, folder in folders
            for path in play(bots, each if len(bots) == 2 else each // 2, folder)
        ]
        for one in pool.map(figures, paths[first:]):
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
        not _is_clearly_smaller(one.named, one.largest)
        for one in named
        if one.named and one.largest
    )
    gains = [gain for one in part for gain in one.gains]
    costs = sorted(one.cpu_s for one in part)
    yield f"{len(part)} games, {len(named)} with a named turn"
    yield f"the largest drop: {right} of {len(named)}, or not clearly smaller: {near}"
    yield f"better turns that are better: {sum(g > 0 for g in gains)} of {len(gains)}"
    yield f"CPU: {fmean(costs):.1f} s on average, {costs[-1]:.1f} s at most"
