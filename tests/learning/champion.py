"""The training of the house bot `champion`: its weights, learned from self-play.

`python -m tests.learning.champion weights.json` plays games of two seats, finds out
what the features of a position are worth, plays games with these weights, and so on.
The same seed gives the same weights. docs/training.md says how the bot was trained.

A game is full of chance, so the result of a game says little about its first turns. The
weights of the last phase are therefore learned from results, and those of the phases
before it from what the position is worth later in the game, with the weights that are
known by then (temporal differences, from the end to the beginning).
"""

import argparse
import json
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np

from engine.evaluation import FEATURES, features
from engine.game import TorresGame
from engine.kernel import Position
from engine.moves import BUY, END, KEEPING, KING_DUE, OVER, TURN
from engine.rulesets import PHASES, Rules, resolve
from engine.search import determinize
from engine.setup import derive
from engine.strategy import Learned, LearnedSearches, RoundSearches, in_order

Array = np.ndarray[Any, Any]
USED = [
    name
    for name in FEATURES
    if name not in {"master", "knights", "cards", "deck", "ap"}
]
"""The features with a weight. `knights` and `cards` follow from the others."""
PROMISE = [{"ap": 3.0, "climbs": 4.0}] * (PHASES + 1)
WIDTH = 8  # of the beam
CHOICE = 24  # turns from which an exploring seat chooses
EXPLORE = (0.0, 0.05, 0.15, 0.3)  # the share of explored turns; each game has one
LATER = 0.8  # how much a later value counts more than the next one, 0 to 1
CAUTION = 100.0  # draws all weights a little towards 0
CAUTION_LEFT = 4.0  # draws what depends on the turns left to 0 this much more

Searches = LearnedSearches | RoundSearches


class Turns(NamedTuple):
    """The ends of all turns of some games, in the order of time."""

    inputs: Array
    """(games, turns, inputs): own features minus those of the rival, as they are and
    multiplied by the turns left; then two numbers for the seat that moved first."""
    signs: Array
    """(games, turns): 1 if seat 0 has moved, -1 if seat 1 has."""
    leads: Array
    """(games): the lead of seat 0 at the end of the game."""


def play_game(rules: Rules, seed: str, searches: Searches) -> tuple[Any, Any, int]:
    """Play a game of two seats; return its inputs, its signs and the lead of seat 0."""
    rng = Random(seed)
    position = TorresGame(rules, derive(rules, seed)).position.copy()
    explore = rng.choice(EXPLORE)
    inputs, signs = [], []
    while position.decision != OVER:
        if position.decision not in (TURN, KEEPING):
            position.perform(_rare(position, searches, rng))
            continue
        turn = position.turn_id
        if _play_turn(position, searches, explore, rng):
            continue  # it has bought a card, and decides again
        while position.turn_id == turn:
            ends = [move for move in position.legal() if move >> 16 == END]
            if ends:
                inputs.append(_inputs(rules, position))
                signs.append(1 - 2 * position.seat)
            position.perform(ends[0] if ends else rng.choice(position.legal()))
    return inputs, signs, position.track.scores[0] - position.track.scores[1]


def _rare(position: Position, searches: Searches, rng: Random) -> int:
    """Return a move of a decision that is not a turn: mostly a random one."""
    if position.decision != KING_DUE or not position.phase or rng.random() < 0.3:
        return rng.choice(position.legal())
    guess = determinize(position, position.seat, rng)
    return searches.of(position).best(guess, WIDTH, 1)[0].moves[0]


def _play_turn(
    position: Position, searches: Searches, explore: float, rng: Random
) -> bool:
    """Play a turn up to its end or first purchase; return True after a purchase."""
    turn_id = position.turn_id
    chance = rng.random()
    if chance < 0.4 * explore:
        for _ in range(rng.randrange(3, 12)):
            move = rng.choice(position.legal())
            if move >> 16 == END or position.turn_id != turn_id:
                break
            position.perform(move)
        return False
    guess = determinize(position, position.seat, rng)
    exploring = chance < explore
    turns = searches.of(position).best(guess, WIDTH, CHOICE if exploring else 1)
    for move in in_order((rng.choice(turns) if exploring else turns[0]).moves):
        position.perform(move)
        if move >> 16 == BUY:
            return True
    return False


def _inputs(rules: Rules, position: Position) -> Array:
    """Return one row of `Turns.inputs`, for the seat whose turn ends."""
    use = [FEATURES.index(name) for name in USED]
    own, rival = (
        np.array(features([position], seat))
        for seat in (position.seat, 1 - position.seat)
    )
    for row in (
        own,
        rival,
    ):  # the master card scores as castles do: one weight for both
        row[FEATURES.index("castles")] += row[FEATURES.index("master")]
    own, rival = own[use], rival[use]
    left = len(rules.stacks[position.phase - 1]) - position.round
    first = position.turn == 0
    return np.concatenate(
        [own - rival, left * own - (left + first) * rival, [first, first * left]]
    )


def play_games(rules: Rules, seed: str, games: int, searches: Searches) -> Turns:
    """Play games; the same seed gives the same ones."""
    played = [play_game(rules, f"{seed} {game}", searches) for game in range(games)]
    return Turns(*(np.array(part, np.float64) for part in zip(*played, strict=True)))


def fit(turns: Turns) -> list[dict[str, list[float]]]:
    """Return learned weights, as `LearnedSearches` takes them."""
    length = turns.signs.shape[1] // PHASES
    later = turns.leads
    learned = []
    for phase in reversed(range(PHASES)):
        part = slice(phase * length, (phase + 1) * length)
        inputs, signs = turns.inputs[:, part], turns.signs[:, part]
        values = np.zeros_like(signs)
        weights = np.zeros(0)
        for share in (1.0, LATER, LATER):  # first without values of this phase
            targets, _ = _targets(values, later, share)
            weights = _regress(inputs, signs * targets)
            values = signs * (inputs @ weights)
        _, later = _targets(values, later, LATER)
        count = len(USED)
        pairs = np.stack([weights[:count], weights[count : 2 * count]], axis=1)
        named = dict(zip(USED, pairs.round(4).tolist(), strict=True))
        named["master"] = named["castles"]
        learned.append(named)
    return learned[::-1]


def _targets(values: Array, later: Array, share: float) -> tuple[Array, Array]:
    """Return what the turns of a phase should be worth, and the phase's beginning.

    A target is the value after the next turn and, with `share`, what comes later.
    `later` is the value at the end of the phase. All values are those of seat 0.
    """
    targets = np.empty_like(values)
    for turn in reversed(range(values.shape[1])):
        targets[:, turn] = later
        later = share * later + (1 - share) * values[:, turn]
    return targets, later


def _regress(inputs: Array, targets: Array) -> Array:
    """Return the weights that explain the targets best (ridge regression)."""
    x = inputs.reshape(-1, inputs.shape[-1])
    scale = x.std(axis=0)
    scale[scale == 0] = np.inf  # an input that is always the same has the weight 0
    x = x / scale
    caution = np.full(x.shape[1], CAUTION)
    caution[len(USED) : 2 * len(USED)] *= CAUTION_LEFT
    weights = np.linalg.solve(x.T @ x + np.diag(caution), x.T @ targets.reshape(-1))
    return np.asarray(weights / scale)


def train(seed: str, rounds: int, games: int) -> Learned:
    """Return the weights after some rounds of self-play in the ruleset `yucata`."""
    rules = resolve("yucata", 2)
    searches: Searches = RoundSearches(rules, PROMISE)
    known: list[Turns] = []
    learned: Learned = []
    for number in range(1, rounds + 1):
        known.append(play_games(rules, f"{seed} {number}", games, searches))
        # All games, also those of weaker rounds: weights from the latest games alone
        # suit positions as they reach them, and lose against other bots.
        learned = fit(Turns(*map(np.concatenate, zip(*known, strict=True))))
        searches = LearnedSearches(rules, learned, PROMISE)
        print(f"round {number} of {rounds}, {number * games} games", flush=True)
    return learned


def main() -> None:
    """Train as the command line says, and write the weights."""
    parser = argparse.ArgumentParser(description="Train the house bot champion.")
    parser.add_argument("out", type=Path, help="the file of the weights")
    parser.add_argument("--seed", default="champion")
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--games", type=int, default=1_500, help="in each round")
    options = parser.parse_args()
    learned = train(options.seed, options.rounds, options.games)
    lines = ",\n".join(json.dumps(weights) for weights in learned)
    options.out.write_text(f"[{lines}]\n")


if __name__ == "__main__":
    main()
