"""House bot `random`: it plays any legal action, all with the same probability.

This is the smallest useful bot. It shows the whole protocol (docs/protocol.md): each
line is one JSON object. Questions come on stdin, and answers go to stdout.
"""

import json
import random
import sys

rng = random.Random()
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        # The referee gives each seat a seed. A bot that takes all its randomness from
        # this seed plays the same game again, so that you can repeat a game at home.
        rng.seed(message["seed"])
        print('{"type":"ready","name":"random"}', flush=True)
    elif message["type"] == "decide":
        # Without flush=True the answer would stay in a buffer, and time would run out.
        print(json.dumps({"actions": [rng.choice(message["legal"])]}), flush=True)
    elif message["type"] == "end":
        break
