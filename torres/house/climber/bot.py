"""House bot `climber`: it builds beside its knights and steps up wherever it can.

It knows nothing of castles, only heights: a step up is good, a block next to a knight
makes the next step possible, and a new knight is better than none. It spends what is
left on the scoring track, and so it never buys a card. Each action gets a fixed value,
without looking ahead: this is the simplest way to write down what you know of a game.
"""

import json
import random
import sys

COLUMNS = "abcdefgh"


def height(state, space):
    """Return how many blocks there are on a space, given by its name, such as "c4".

    `heights[row][column]` counts from 0, and row 0 is the row that is called 1.
    """
    return state["heights"][int(space[1]) - 1][COLUMNS.index(space[0])]


def beside(space, other):
    """True if two spaces touch along a side."""
    columns = abs(COLUMNS.index(space[0]) - COLUMNS.index(other[0]))
    rows = abs(int(space[1]) - int(other[1]))
    return columns + rows == 1


def value(action, state, seat):
    """Return how good an action is. The bot plays the action with the highest value."""
    knights = state["knights"][seat]
    match action.split():
        # "move b3 b4" or "play jump b3 b5": the last two words name the spaces.
        case ["move", source, target] | [
            "play",
            "diagonal" | "door_up" | "jump" | "up2",
            source,
            target,
        ]:
            return 10 * (height(state, target) - height(state, source))
        case ["block" | "extra_block", space] | ["play", "extra_block", space]:
            level = height(state, space) + 1
            next_step = any(
                beside(space, knight) and level == height(state, knight) + 1
                for knight in knights
            )
            return 6 if next_step else 2
        # A block under a knight lifts the knight at once.
        case ["play", "under_knight", *_]:
            return 9
        # Cards with more action points for this turn.
        case ["play", "ap6" | "ap7"]:
            return 8
        case ["add", _]:
            return 7 if len(knights) < 4 else 1
        case ["score"]:
            return 3
        case ["end", *_]:
            return 0
    # Everything else is better than the end of the turn.
    return 0.5


def main():
    """Speak the protocol: hello, decide … decide, end."""
    rng = random.Random()
    seat = 0
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            seat = message["seat"]
            rng.seed(message["seed"])
            print('{"type":"ready","name":"climber"}', flush=True)
        elif message["type"] == "decide":
            state = message["state"]
            legal = message["legal"]
            # `max` takes the first of several best actions. In random order each of
            # them has the same chance.
            rng.shuffle(legal)
            action = max(legal, key=lambda action: value(action, state, seat))
            print(json.dumps({"actions": [action]}), flush=True)
        elif message["type"] == "end":
            break


main()
