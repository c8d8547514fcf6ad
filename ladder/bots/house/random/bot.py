"""House bot `random`: any legal action, each as likely as the others."""

import json
import random
import sys

rng = random.Random(0)
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        rng.seed(message["seed"])
        print('{"type":"ready","name":"random"}', flush=True)
    elif message["type"] == "decide":
        print(json.dumps({"actions": [rng.choice(message["legal"])]}), flush=True)
    elif message["type"] == "end":
        break
