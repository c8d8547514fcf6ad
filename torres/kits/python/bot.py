"""A first bot for Torres: it plays any legal action, but never ends a turn early.

The referee writes one JSON object on each line of stdin, and the bot answers with one
on each line of stdout. Only answers may go to stdout: print what you want to log to
stderr. Everything about the messages is in docs/protocol.md.
"""

import json
import random
import sys


def choose(message, rng):
    """Return your actions, in order. This is the place for your ideas.

    message["state"] shows the board: for example message["state"]["heights"][0][2] is
    the number of blocks on c1. You may answer with a whole turn, as in
    ["move b3 b4", "block c4", "end"], or with one action: then you are asked again.
    """
    legal = message["legal"]
    going_on = [action for action in legal if not action.startswith("end")]
    return [rng.choice(going_on or legal)]


def main():
    """Speak the protocol: hello, decide, decide, ..., end."""
    rng = random.Random()
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            # All randomness comes from this seed, so that a game can be repeated.
            rng.seed(message["seed"])
            answer = {"type": "ready"}
        elif message["type"] == "decide":
            answer = {"actions": choose(message, rng)}
        else:
            # "end" and "forfeit" need no answer, nor do messages of the future. After
            # "end" the referee closes stdin: then this loop ends, and so does the bot.
            continue
        # Without flush=True the answer would stay in a buffer, and time would run out.
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
