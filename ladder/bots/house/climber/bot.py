"""House bot `climber`: builds beside its knights and steps up wherever it can.

It knows no castles, only heights: a step up is good, a block next to a knight makes the
next step, a new knight is better than none, and what is left goes to the track.
"""

import json
import random
import sys


def height(state, space):
    """Return how many blocks a space carries."""
    return state["heights"][int(space[1]) - 1][ord(space[0]) - ord("a")]


def beside(space, other):
    """Return whether two spaces touch along a side."""
    dx, dy = ord(space[0]) - ord(other[0]), int(space[1]) - int(other[1])
    return abs(dx) + abs(dy) == 1


def worth(action, state, seat):
    """Return how much the bot likes an action; the dearest is played."""
    own = state["knights"][seat]
    match action.split():
        case ["move" | "play", *_, source, target] if target[0] in "abcdefgh":
            return 10 * (height(state, target) - height(state, source))
        case ["block" | "extra_block", space] | ["play", "extra_block", space]:
            level = height(state, space) + 1
            next_step = any(
                beside(space, k) and level == height(state, k) + 1 for k in own
            )
            return 6 if next_step else 2
        case ["play", "under_knight", *_]:
            return 9
        case ["play", "ap6" | "ap7"]:
            return 8
        case ["add", _]:
            return 7 if len(own) < 4 else 1
        case ["score"]:
            return 3
        case ["end", *_]:
            return 0
    return 0.5


def main():
    """Speak the protocol: hello, decide … decide, end."""
    rng, seat = random.Random(0), 0
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            seat = message["seat"]
            rng.seed(message["seed"])
            print('{"type":"ready","name":"climber"}', flush=True)
        elif message["type"] == "decide":
            state, legal = message["state"], message["legal"]
            rng.shuffle(legal)
            action = max(legal, key=lambda a: worth(a, state, seat))
            print(json.dumps({"actions": [action]}), flush=True)
        elif message["type"] == "end":
            break


main()
