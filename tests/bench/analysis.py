"""How well the analysis of games predicts results, and how much luck explains.

`python -m tests.bench analysis [GAMES] [SEATS]` plays games between copies of the house
bot `searcher`, in this process and without a clock that matters, and analyses them. The
seeds differ from those to which `engine.analysis.BLUR` was fitted. 200 games of two
seats take a quarter of an hour on two cores.
"""

import importlib.util
import json
import math
import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from random import Random
from statistics import fmean, stdev
from typing import Any, NamedTuple

from engine import TorresGame, derive, resolve
from engine.analysis import Policy, reshuffled
from engine.luck import luck_of
from engine.replay import document
from engine.turning_points import GAMES

RULESET = "yucata"
CLOCK = {"move_ms": 5000, "bank_ms": 60000}
EACH = 6  # turns from one measured position to the next
RESAMPLES = 2_000
BINS = (0.0, 0.1, 0.25, 0.4, 0.6, 0.75, 0.9, 1.0)
HOUSE = Path(__file__).parents[2] / "torres" / "house"


class Prediction(NamedTuple):
    """The expected and the real result of a seat, in a phase."""

    phase: int
    chance: float
    won: float
    lead: float
    final: int


class GameFigures(NamedTuple):
    """The predictions of a game, and by seat its final lead and its luck."""

    predictions: list[Prediction]
    leads: list[int]
    luck: list[float]
    purchases: list[float]


@cache
def house_bot(name: str) -> Any:
    """Return the module of a house bot."""
    path = HOUSE / name / "bot.py"
    spec = importlib.util.spec_from_file_location(f"{name}_bot", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def figures(number: int, seats: int) -> GameFigures:
    """Play a game and measure it."""
    rules = resolve(RULESET, seats)
    seed = f"analysis {number}"
    game = TorresGame(rules, derive(rules, seed))
    rngs = [Random(f"{seed}/{seat}") for seat in range(seats)]
    moves, starts = [], []
    known = -1
    while not game.over:
        seat = game.position.seat
        if game.decision == "turn" and game.turn_id != known:
            known = game.turn_id
            starts.append(game.position.copy())
        message = {
            "decision": game.decision,
            "state": game.state(seat),
            "legal": game.legal(),
            "clock": CLOCK,
        }
        actions = house_bot("searcher").choose(message, rules, rngs[seat])
        for action in actions:
            game.play(action)
        moves.append({"seat": seat, "actions": actions, "ms": 1.0})
    players = [{"name": f"searcher {seat}"} for seat in range(seats)]
    replay = document(game, seed=seed, players=players, moves=moves, forfeits=[])
    policy = Policy(rules)
    luck = luck_of(json.loads(json.dumps(replay)), GAMES, policy)
    return GameFigures(
        list(_predictions(policy, starts[number % EACH :: EACH], game)),
        _leads(game),
        [seat["luck"] for seat in luck["seats"]],
        [purchase["luck"] for purchase in luck["purchases"]],
    )


def _predictions(
    policy: Policy, starts: Sequence[Any], game: TorresGame
) -> Iterator[Prediction]:
    assert game.result is not None
    ranks = game.result["ranks"]
    leads = _leads(game)
    for start in starts:
        deal = partial(reshuffled, start)
        outlook = policy.outlook(deal, GAMES, "bench")
        for seat in range(start.seats):
            yield Prediction(
                start.phase,
                outlook.chances[seat],
                (ranks[seat] == 1) / ranks.count(1),
                outlook.leads[seat],
                leads[seat],
            )


def _leads(game: TorresGame) -> list[int]:
    assert game.result is not None
    scores = game.result["scores"]
    return [
        score - max(scores[:seat] + scores[seat + 1 :])
        for seat, score in enumerate(scores)
    ]


def report(arguments: list[str]) -> None:
    """Play the games and print all figures."""
    games = int(arguments[0]) if arguments else 200
    seats = int(arguments[1]) if len(arguments) > 1 else 2
    measured = []
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for one in pool.map(figures, range(games), [seats] * games):
            measured.append(one)
            if len(measured) % 20 == 0:
                print(f"{len(measured)} games", file=sys.stderr, flush=True)
    print(f"{games} games of {seats} searchers, ruleset {RULESET}")
    _print_chances([p for one in measured for p in one.predictions], seats)
    _print_luck(measured)


def _print_chances(predictions: Sequence[Prediction], seats: int) -> None:
    for phase in (1, 2, 3):
        part = [p for p in predictions if p.phase == phase]
        brier = fmean((p.chance - p.won) ** 2 for p in part)
        even = fmean((1 / seats - p.won) ** 2 for p in part)
        error = math.sqrt(fmean((p.lead - p.final) ** 2 for p in part))
        square = _correlation([p.lead for p in part], [p.final for p in part]) ** 2
        print(
            f"phase {phase}: {len(part) // seats} positions, Brier score {brier:.3f}"
            f" (equal chances: {even:.3f}), lead: R² {square:.2f}, error {error:.1f}"
        )
    for low, high in pairwise(BINS):
        part = [p for p in predictions if low <= p.chance < high]
        if part:
            print(
                f"chance {low:.2f} to {high:.2f}: {len(part)} times, expected"
                f" {fmean(p.chance for p in part):.3f}, won"
                f" {fmean(p.won for p in part):.3f}"
            )


def _print_luck(measured: Sequence[GameFigures]) -> None:
    """Print what luck explains of the leads of seat 0, fitted and on other games."""
    luck = [one.luck[0] - fmean(one.luck[1:]) for one in measured]
    leads = [float(one.leads[0]) for one in measured]
    terms = [term for one in measured for term in one.purchases]
    print(
        f"luck: {len(terms) / len(measured):.1f} purchases a game, mean"
        f" {fmean(terms):+.2f} ± {stdev(terms) / math.sqrt(len(terms)):.2f}, sd"
        f" {stdev(terms):.1f}; sd of a game's luck {stdev(luck):.1f}, of its lead"
        f" {stdev(leads):.1f}"
    )
    rng = Random(1)
    squares = []
    for _ in range(RESAMPLES):
        chosen = rng.choices(range(len(luck)), k=len(luck))
        both = [luck[i] for i in chosen], [leads[i] for i in chosen]
        squares.append(_correlation(*both) ** 2)
    squares.sort()
    low, high = squares[RESAMPLES // 40], squares[-RESAMPLES // 40]
    correlation = _correlation(luck, leads)
    print(
        f"lead on luck: r {correlation:+.3f}, R² {correlation**2:.4f} (95 % of"
        f" {RESAMPLES} resamples: {low:.4f} to {high:.4f})"
    )
    print(f"R² on held-out games: {_held_out(luck, leads):+.4f}")


def _held_out(luck: Sequence[float], leads: Sequence[float]) -> float:
    """Return R² on the second half of the games of a line fitted to the first."""
    half = len(luck) // 2
    x, y = luck[:half], leads[:half]
    spread = sum((a - fmean(x)) ** 2 for a in x)
    slope = (
        sum((a - fmean(x)) * (b - fmean(y)) for a, b in zip(x, y, strict=True)) / spread
    )
    start = fmean(y) - slope * fmean(x)
    rest = list(zip(luck[half:], leads[half:], strict=True))
    mean = fmean(b for _, b in rest)
    left = sum((b - start - slope * a) ** 2 for a, b in rest)
    return 1 - left / sum((b - mean) ** 2 for _, b in rest)


def _correlation(x: Sequence[float], y: Sequence[float]) -> float:
    mean_x, mean_y = fmean(x), fmean(y)
    both = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    spread = sum((a - mean_x) ** 2 for a in x) * sum((b - mean_y) ** 2 for b in y)
    return both / math.sqrt(spread) if spread else 0.0
