"""A first bot for Torres: it plays any legal action, all with the same probability.

The referee writes one JSON object on each line of stdin, and the bot answers with one
on each line of stdout. Only answers may go to stdout: print what you want to log to
stderr. Everything about the messages is in docs/protocol.md.
"""

import json
import random
import sys

rng = random.Random()
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        # All randomness comes from this seed, so that a game can be repeated.
        rng.seed(message["seed"])
        answer = {"type": "ready"}
    elif message["type"] == "decide":
        # Your ideas go here. message["state"] shows the board; an answer may also name
        # its actions, as in {"actions": ["move b3 b4", "end"]}.
        answer = {"index": rng.randrange(len(message["legal"]))}
    else:
        # "end" and "forfeit" need no answer, and neither do messages of the future.
        continue
    # Without flush=True the answer would stay in a buffer, and time would run out.
    print(json.dumps(answer), flush=True)
