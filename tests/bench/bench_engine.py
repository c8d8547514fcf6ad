"""Benchmarks of the engine, each next to its peer in the same run.

`python tests/bench/bench_engine.py` prints one table. The peers are `open_spiel` and
`chess` from PyPI (the extra `bench`); a row whose peer is missing says so. The figures
are CPU time of a process, measured in turns, and the table shows the median of the
rounds. So other work on the machine slows both sides of a ratio alike.
"""

import importlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

import engine  # noqa: E402 - the line above makes it importable
from engine.evaluation import FEATURES, Evaluator  # noqa: E402
from engine.moves import TURN  # noqa: E402
from engine.playouts import play_out  # noqa: E402
from engine.replay import document, verify  # noqa: E402
from engine.replay_format import load  # noqa: E402
from tests.bench.sizes import size  # noqa: E402

ROUNDS = size(5, short=1)
MEASUREMENT_S = size(0.4, short=0.01)
Step = Callable[[Random], int]


def playouts() -> Step:
    """Return a step that plays a random game inside the kernel and counts its moves."""
    rules = engine.resolve("yucata", 3)
    base = engine.kernel.start(rules, engine.derive(rules, "bench"))
    return lambda rng: int(base.copy().playout(rng.getrandbits(60)))


def batches() -> Step:
    """Return a step that plays random games from many positions in one call."""
    positions = _middles()
    return lambda rng: (
        len(play_out(positions, 1, rng.getrandbits(60))) // engine.rulesets.MAX_SEATS
    )


def expanding() -> Step:
    """Return a step that plays and values all moves of many positions in one call."""
    positions = _middles()
    rows = [dict.fromkeys(FEATURES, 1.0)] * 4
    evaluator = Evaluator(rows, rows)
    children = sum(len(position.legal()) for position in positions)

    def expand(_: Random) -> int:
        evaluator.expand(positions, 0, 16)
        return children

    return expand


def _middles() -> list[engine.Position]:
    """Return positions of the second phase, in the middle of a game."""
    rules = engine.resolve("yucata", 2)
    positions = []
    for number in range(8):
        position = engine.kernel.start(rules, engine.derive(rules, f"bench {number}"))
        rng = Random(number)
        while position.phase < 2 or position.decision != TURN:
            position.perform(rng.choice(position.legal()))
        positions.append(position)
    return positions


def driven() -> Step:
    """Return the same, driven from Python by `legal` and `apply`."""
    rules = engine.resolve("yucata", 3)
    base = engine.kernel.start(rules, engine.derive(rules, "bench"))

    def play(rng: Random) -> int:
        game, draw, moves = base.copy(), rng.random, 0
        while legal := game.legal():
            game.apply(legal[int(draw() * len(legal))])
            moves += 1
        return moves

    return play


def spiel() -> Step:
    """Return the same for the chess of OpenSpiel."""
    chess = importlib.import_module("pyspiel").load_game("chess")

    def play(rng: Random) -> int:
        game, draw, moves = chess.new_initial_state(), rng.random, 0
        while not game.is_terminal():
            legal = game.legal_actions()
            game.apply_action(legal[int(draw() * len(legal))])
            moves += 1
        return moves

    return play


def python_chess() -> Step:
    """Return the same for python-chess, up to 400 plies."""
    chess = importlib.import_module("chess")

    def play(rng: Random) -> int:
        board, draw, moves = chess.Board(), rng.random, 0
        while moves < 400 and (legal := list(board.legal_moves)):
            board.push(legal[int(draw() * len(legal))])
            moves += 1
        return moves

    return play


def verifying() -> Step:
    """Return a step that verifies replays of all rulesets, from bytes to the result."""
    files = _files()

    def check(_: Random) -> int:
        for data in files:
            verify(load(data))
        return len(files)

    return check


def reading() -> Step:
    """Return a step that only reads the same bytes as JSON: the floor of verifying."""
    files = _files()

    def check(_: Random) -> int:
        for data in files:
            json.loads(data)
        return len(files)

    return check


def _files() -> list[bytes]:
    return [json.dumps(replay).encode() for replay in _recorded()]


def _recorded() -> list[Any]:
    """Return replays whose answers have several actions each, as those of bots have."""
    replays = []
    for ruleset in engine.PRESETS:
        rules = engine.resolve(ruleset, 2)
        game = engine.TorresGame(rules, engine.derive(rules, "bench"))
        rng, moves, turn = Random(1), [], -1
        while not game.over:
            if game.turn_id != turn or moves[-1]["actions"][-1] == "buy":
                moves.append({"seat": game.seat, "actions": []})
                turn = game.turn_id
            moves[-1]["actions"].append(rng.choice(game.legal()))
            game.play(moves[-1]["actions"][-1])
        players: list[Any] = [{"name": "x"}] * 2
        replays.append(
            document(game, seed="bench", players=players, moves=moves, forfeits=[])
        )
    return replays


def rate(step: Step, seed: int) -> float:
    """Return the count of a step for each second of CPU time."""
    rng = Random(seed)
    total = 0
    begin = time.process_time()
    while time.process_time() - begin < MEASUREMENT_S:
        total += step(rng)
    return total / (time.process_time() - begin)


MEASURES = {
    "playouts": playouts,
    "batches": batches,
    "expanding": expanding,
    "driven": driven,
    "spiel": spiel,
    "python-chess": python_chess,
    "verifying": verifying,
    "reading": reading,
}
Kind = tuple[str, bool]  # a key of MEASURES, and True for the plain source
CHESS: Kind = ("python-chess", False)
READING: Kind = ("reading", False)
VERIFYING: Kind = ("verifying", False)
KINDS: list[Kind] = [
    ("playouts", False),
    ("playouts", True),
    ("batches", False),
    ("batches", True),
    ("expanding", False),
    ("expanding", True),
    ("driven", False),
    ("driven", True),
    ("spiel", False),
    CHESS,
    VERIFYING,
    READING,
]
RATIOS: list[tuple[str, Kind, Kind, float]] = [
    ("playouts, compiled, to plain", ("playouts", False), ("playouts", True), 30),
    ("games in batches, compiled, to plain", ("batches", False), ("batches", True), 30),
    ("valuing moves, compiled, to plain", ("expanding", False), ("expanding", True), 0),
    ("driven, compiled, to OpenSpiel chess", ("driven", False), ("spiel", False), 2),
    ("driven, compiled, to python-chess", ("driven", False), CHESS, 10),
    ("driven, plain, to python-chess", ("driven", True), CHESS, 1),
    ("reading replays as JSON, to verifying them", READING, VERIFYING, 0),
]
COUNTS = {
    ("playouts", False): "playouts, compiled, moves a second",
    ("batches", False): "random games in batches, compiled, games a second",
    ("batches", True): "random games in batches, plain, games a second",
    ("expanding", False): "moves played and valued, compiled, a second",
    ("expanding", True): "moves played and valued, plain, a second",
    ("driven", False): "driven, compiled, moves a second",
    ("driven", True): "driven, plain, moves a second",
    ("spiel", False): "OpenSpiel chess, moves a second",
    ("python-chess", False): "python-chess, moves a second (idle: some 37,600)",
    ("reading", False): "reading replays as JSON, replays a second",
}
MIN_VERIFIED_PER_S = 2_000  # replays on one core


def in_child(name: str, seed: int, *, pure: bool) -> float | None:
    """Return one measurement by a child process; None if its peer is not installed."""
    environment = os.environ | {"TORRES_PURE": "1" if pure else "0"}
    command = [sys.executable, __file__, name, str(seed)]
    process = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False
    )
    if process.returncode == 0:
        return float(process.stdout)
    if "ModuleNotFoundError" in process.stderr:
        return None
    raise RuntimeError(f"{name} failed: {process.stderr.strip().splitlines()[-1]}")


def ratio(mine: list[float | None], theirs: list[float | None]) -> float | None:
    """Return the median of the rounds' ratios; None without any."""
    pairs = [(m, t) for m, t in zip(mine, theirs, strict=True) if m and t]
    return median(m / t for m, t in pairs) if pairs else None


def measure() -> list[tuple[str, float | None, str, bool]]:
    """Return rows of (name, number or None, target, True if the target is met)."""
    rates: dict[Kind, list[float | None]] = {kind: [] for kind in KINDS}
    for seed in range(ROUNDS):
        for kind in KINDS:
            rates[kind].append(in_child(kind[0], seed, pure=kind[1]))
    rows: list[tuple[str, float | None, str, bool]] = []
    for what, mine, theirs, least in RATIOS:
        against = ratio(rates[mine], rates[theirs])
        if not least:  # a floor to compare the next row with, not a target
            rows.append((what, against, "-", True))
            continue
        holds = against is not None and against >= least
        rows.append((what, against, f"≥ {least}", holds))
    verified = _middle(rates["verifying", False])
    holds = verified is not None and verified >= MIN_VERIFIED_PER_S
    rows.append(
        ("replays verified a second", verified, f"≥ {MIN_VERIFIED_PER_S:,}", holds)
    )
    rows += [(what, _middle(rates[kind]), "-", True) for kind, what in COUNTS.items()]
    return rows


def _middle(values: list[float | None]) -> float | None:
    known = [value for value in values if value]
    return median(known) if known else None


def main() -> None:
    if not engine.compiled:
        print("The kernel is not compiled here, so all rows measure the plain source.")
    for what, value, target, holds in measure():
        shown = "no peer" if value is None else f"{value:,.2f}"
        print(f"{shown:>12}  {target:<8}{'' if holds else 'BELOW':<6} {what}")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(rate(MEASURES[sys.argv[1]](), int(sys.argv[2])))
    else:
        main()
