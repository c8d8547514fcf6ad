"""How each seat played its turns: what they cost, and what they left unused.

The figures of a turn are those of the analysis of its game. A bot's mistakes show only
over many games, so these lists are small enough to be stored for each of them.
"""

from typing import TypedDict

from engine.documents import Replay
from engine.game import TorresGame
from engine.replay import play_again
from engine.turning_points import GameAnalysis, Swing, is_clear

KINDS = ("add", "block", "buy", "move", "play", "score")
"""The kinds of actions by which turns are told apart. All turns have an end."""


class ReviewedTurn(TypedDict):
    """A turn of a seat. `drop` is the chance that it clearly lost by it, or 0.

    `unused` are the action points that were left at its end, and `ms` the thinking
    time.
    """

    ply: int
    phase: int
    kinds: list[str]
    drop: float
    unused: int
    ms: float


def review_seats(document: Replay, analysis: GameAnalysis) -> list[list[ReviewedTurn]]:
    """Return the turns of each seat of a replay. Raises InvalidReplay."""
    turns: dict[int, ReviewedTurn] = {}
    by_seat: list[list[ReviewedTurn]] = [[] for _ in document["players"]]
    for swing, before in zip(analysis["swings"], analysis["turns"], strict=False):
        turns[swing["ply"]] = _turn(swing, before["phase"])
        by_seat[swing["seat"]].append(turns[swing["ply"]])
    present: list[ReviewedTurn | None] = [None] * len(by_seat)
    times = _times(document)

    def watch(game: TorresGame, action: str) -> None:
        seat = game.position.seat
        present[seat] = turn = turns.get(game.ply, present[seat])
        if turn is None:
            return
        turn["ms"] += times.get(game.ply, 0.0)
        kind = action.partition(" ")[0]
        if kind in KINDS and kind not in turn["kinds"]:
            turn["kinds"].append(kind)
        if kind == "end":
            turn["unused"] = game.position.ap
            present[seat] = None

    play_again(document, watch)
    return by_seat


def _turn(swing: Swing, phase: int) -> ReviewedTurn:
    drop = -swing["chance"] if swing["chance"] < 0 and is_clear(swing) else 0.0
    return {
        "ply": swing["ply"],
        "phase": phase,
        "kinds": [],
        "drop": drop,
        "unused": 0,
        "ms": 0.0,
    }


def _times(document: Replay) -> dict[int, float]:
    """Return the thinking time of each answer by the ply of its first action."""
    times = {}
    ply = 0
    for move in document["moves"]:
        times[ply] = move.get("ms", 0.0)
        ply += len(move["actions"])
    return times
