"""A first bot: it plays any legal action, each as likely as the others."""

import json
import random
import sys

rng = random.Random(0)
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        rng.seed(message["seed"])
        answer = {"type": "ready"}
    elif message["type"] == "decide":
        answer = {"index": rng.randrange(len(message["legal"]))}
    else:
        continue
    print(json.dumps(answer), flush=True)
