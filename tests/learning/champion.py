"""The training of the house bot `champion`: its weights, learned from self-play.

`python -m tests.learning.champion weights.json` plays games, finds out what the
features of a position are worth, plays games with these weights, and so on: first with
two seats, then with three and four. The same seed gives the same weights.
docs/training.md says how the bot was trained.

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
from engine.rulesets import MAX_SEATS, MIN_SEATS, PHASES, Rules, resolve
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
    """(games, turns, seats, inputs): for each seat, its features, the same multiplied
    by the turns that it has left in the phase, these turns, and their square. From all
    numbers the average of the other seats is taken away."""
    movers: Array
    """(games, turns): the seat whose turn ends."""
    leads: Array
    """(games, seats): the lead of each seat at the end over the others' average."""


def play_game(
    rules: Rules, seed: str, searches: Searches
) -> tuple[list[Array], list[int], list[int]]:
    """Play a game; return its inputs, its movers, and the scores at its end."""
    rng = Random(seed)
    position = TorresGame(rules, derive(rules, seed)).position.copy()
    explore = rng.choice(EXPLORE)
    inputs, movers = [], []
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
                movers.append(position.seat)
                moved = movers[len(movers) - 1 - position.turn :]
                inputs.append(_inputs(rules, position, moved))
            position.perform(ends[0] if ends else rng.choice(position.legal()))
    return inputs, movers, list(position.track.scores)[: rules.seats]


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


def _inputs(rules: Rules, position: Position, moved: list[int]) -> Array:
    """Return a row of `Turns.inputs`, before the average of the others is taken away.

    `moved` are the seats that have had their turn in this round.
    """
    use = [FEATURES.index(name) for name in USED]
    rows = []
    for seat in range(rules.seats):
        row = np.array(features([position], seat), np.float32).reshape(-1)
        # The master card scores as castles do: one weight for both.
        row[FEATURES.index("castles")] += row[FEATURES.index("master")]
        left = len(rules.stacks[position.phase - 1]) - position.round
        left += seat not in moved
        rows.append(np.concatenate([row[use], left * row[use], [left, left * left]]))
    return np.array(rows, np.float32)


def _led(numbers: Array) -> Array:
    """Return numbers of seats minus the average of the other seats, along axis -2."""
    others = numbers.shape[-2] - 1
    total = numbers.sum(axis=-2, keepdims=True)
    return np.asarray(numbers - (total - numbers) / others)


def play_games(rules: Rules, seed: str, games: int, searches: Searches) -> Turns:
    """Play games; the same seed gives the same ones."""
    played = [play_game(rules, f"{seed} {game}", searches) for game in range(games)]
    inputs, movers, scores = (np.array(part) for part in zip(*played, strict=True))
    return Turns(_led(inputs), movers, _led(scores[:, :, None])[:, :, 0])


def fit(rules: Rules, turns: Turns) -> list[dict[str, list[float]]]:
    """Return learned weights, as `LearnedSearches` takes them."""
    ends = np.cumsum([rules.seats * len(stacks) for stacks in rules.stacks])
    later = turns.leads
    learned = []
    for first, end in reversed([*zip([0, *ends], ends, strict=False)]):
        inputs, movers = turns.inputs[:, first:end], turns.movers[:, first:end, None]
        seen = np.take_along_axis(inputs, movers[..., None], axis=2)[:, :, 0]
        values = np.zeros(inputs.shape[:3])
        weights = np.zeros(0)
        for share in (1.0, LATER, LATER):  # first without values of this phase
            targets, _ = _targets(values, later, share)
            weights = _regress(seen, np.take_along_axis(targets, movers, axis=2))
            values = inputs @ weights
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
    `values` are (games, turns, seats); `later` is (games, seats), at the phase's end.
    """
    targets = np.empty_like(values)
    for turn in reversed(range(values.shape[1])):
        targets[:, turn] = later
        later = share * later + (1 - share) * values[:, turn]
    return targets, later


def _regress(inputs: Array, targets: Array) -> Array:
    """Return the weights that explain the targets best (ridge regression)."""
    x = inputs.reshape(-1, inputs.shape[-1]).astype(np.float64)
    scale = x.std(axis=0)
    scale[scale == 0] = np.inf  # an input that is always the same has the weight 0
    x = x / scale
    caution = np.full(x.shape[1], CAUTION)
    caution[len(USED) : 2 * len(USED)] *= CAUTION_LEFT
    weights = np.linalg.solve(x.T @ x + np.diag(caution), x.T @ targets.reshape(-1))
    return np.asarray(weights / scale)


def train(seed: str, seats: int, rounds: int, games: int) -> Learned:
    """Return the weights after some rounds of self-play in the ruleset `yucata`."""
    rules = resolve("yucata", seats)
    searches: Searches = RoundSearches(rules, PROMISE)
    known: list[Turns] = []
    learned: Learned = []
    for number in range(1, rounds + 1):
        known.append(play_games(rules, f"{seed} {number}", games, searches))
        # All games, also those of weaker rounds: weights from the latest games alone
        # suit positions as they reach them, and lose against other bots.
        learned = fit(rules, Turns(*map(np.concatenate, zip(*known, strict=True))))
        searches = LearnedSearches(rules, learned, PROMISE)
        print(
            f"{seats} seats, round {number} of {rounds}: {number * games} games",
            flush=True,
        )
    return learned


def main() -> None:
    """Train as the command line says, and write the weights."""
    parser = argparse.ArgumentParser(description="Train the house bot champion.")
    parser.add_argument("out", type=Path, help="the file of the weights")
    parser.add_argument("--seed", default="", help="another one plays other games")
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--games", type=int, default=1_500, help="in each round")
    options = parser.parse_args()
    tables = []
    for seats in range(MIN_SEATS, MAX_SEATS + 1):
        seed = f"{options.seed}{seats}"
        learned = train(seed, seats, options.rounds, options.games)
        phases = ",\n".join(json.dumps(weights) for weights in learned)
        tables.append(f'"{seats}": [{phases}]')
    options.out.write_text("{" + ",\n".join(tables) + "}\n")


if __name__ == "__main__":
    main()
