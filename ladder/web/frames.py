"""A replay as a row of pictures: the position before each action, and after the last.

The browser draws them and knows no rules.
"""

from typing import Any

from engine.replay import trace

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
    "forfeited",
)


def frames(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the frames; `heights` holds 64 numbers, a1 first, h1 eighth."""
    places = _places(document)
    pictures: list[dict[str, Any]] = []
    last: dict[str, Any] = {"move": None, "by": None, "action": None}
    for line in trace(document):
        state: Any = line["state"]
        picture = {key: state[key] for key in SHOWN}
        picture["heights"] = [height for row in state["heights"] for height in row]
        pictures.append(picture | last)
        if "action" in line:
            move = places[len(pictures) - 1]
            last = {"move": move, "by": line["seat"], "action": line["action"]}
    return pictures


def _places(document: dict[str, Any]) -> list[int]:
    """Say for each action in which of the replay's moves it stands."""
    return [
        index for index, move in enumerate(document["moves"]) for _ in move["actions"]
    ]
