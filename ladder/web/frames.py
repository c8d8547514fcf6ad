"""The frames of a game: the position before each action, and after the last one.

A frame is a JSON document. The viewer in the browser draws frames and knows no rules.
"""

from collections import deque
from collections.abc import Iterable
from typing import Any

from engine.faults import Fault
from engine.game import TorresGame
from engine.replay_format import open_game

# The parts of the public state that the viewer draws.
STATE_KEYS = (
    "phase",
    "round",
    "order",
    "seat",
    "ap",
    "knights",
    "king",
    "reserve",
    "stacks",
    "current",
    "scores",
    "hands",
    "discards",
    "master",
    "forfeited",
)


def of_replay(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the frames of a valid replay."""
    return frames(open_game(document), document["moves"], document["forfeits"])


def frames(
    game: TorresGame,
    moves: Iterable[dict[str, Any]],
    forfeits: Iterable[dict[str, Any]] = (),
) -> list[dict[str, Any]]:
    """Play the moves and return the frames.

    `heights` of a frame holds 64 numbers: a1 first, h1 eighth. A running game has no
    list of forfeits yet; then the first automatic move of a seat implies its forfeit.
    """
    pending = deque(forfeits)
    result = [_frame(game)]
    for index, move in enumerate(moves):
        while pending and pending[0]["before_move"] == index:
            forfeit = pending.popleft()
            game.forfeit(forfeit["seat"], forfeit["reason"])
        if move.get("auto") and move["seat"] not in game.forfeited:
            game.forfeit(move["seat"], Fault.CRASH)
        if game.over:
            break
        for action in move["actions"]:
            result[-1]["forfeited"] = list(game.forfeited)
            game.play(action)
            step = {"move": index, "by": move["seat"], "action": action}
            result.append(_frame(game) | step)
    for forfeit in pending:
        game.forfeit(forfeit["seat"], forfeit["reason"])
        result[-1] |= _position(game)
    return result


def _frame(game: TorresGame) -> dict[str, Any]:
    return {"move": None, "by": None, "action": None} | _position(game)


def _position(game: TorresGame) -> dict[str, Any]:
    state: Any = game.state()
    drawn = {key: state[key] for key in STATE_KEYS}
    scored = [{"phase": row["phase"], "scores": row["scores"]} for row in game.scoring]
    heights = [height for row in state["heights"] for height in row]
    return drawn | {"heights": heights, "scored": scored, "over": game.over}
