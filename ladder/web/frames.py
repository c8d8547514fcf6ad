"""A game as a row of pictures: the position before each action, and after the last.

The browser draws them and knows no rules.
"""

from collections.abc import Iterable
from typing import Any

from engine.faults import Fault
from engine.game import TorresGame as Torres
from engine.replay_format import open_game

SHOWN = (
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
    """Return the frames of a replay of ours, which is valid."""
    return frames(open_game(document), document["moves"], document["forfeits"])


def frames(
    game: Torres,
    moves: Iterable[dict[str, Any]],
    forfeits: Iterable[dict[str, Any]] = (),
) -> list[dict[str, Any]]:
    """Play the moves; `heights` holds 64 numbers, a1 first, h1 eighth.

    Where forfeits are not known yet, a move that was made for a seat tells of one.
    """
    due = list(forfeits)
    pictures = [_picture(game)]
    for index, move in enumerate(moves):
        while due and due[0]["before_move"] == index:
            game.forfeit(due[0]["seat"], due.pop(0)["reason"])
        if move.get("auto") and move["seat"] not in game.forfeited:
            game.forfeit(move["seat"], Fault.CRASH)
        if game.over:
            break
        for action in move["actions"]:
            pictures[-1]["forfeited"] = list(game.forfeited)
            game.play(action)
            said = {"move": index, "by": move["seat"], "action": action}
            pictures.append(_picture(game) | said)
    for forfeit in due:
        game.forfeit(forfeit["seat"], forfeit["reason"])
        pictures[-1] |= _position(game)
    return pictures


def _picture(game: Torres) -> dict[str, Any]:
    return {"move": None, "by": None, "action": None} | _position(game)


def _position(game: Torres) -> dict[str, Any]:
    state: Any = game.state()
    shown = {key: state[key] for key in SHOWN}
    scored = [{"phase": row["phase"], "scores": row["scores"]} for row in game.scoring]
    heights = [height for row in state["heights"] for height in row]
    return shown | {"heights": heights, "scored": scored, "over": game.over}
