"""House bot `banker`: spends every action point on the scoring track.

A landmark: whoever cannot beat 5 points a turn has not begun to play Torres.
"""

import json
import sys

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"ready","name":"banker"}', flush=True)
    elif message["type"] == "decide":
        legal = message["legal"]
        ends = [a for a in legal if a.split()[0] in {"end", "stack"}]
        action = "score" if "score" in legal else (ends or legal)[-1]
        print(json.dumps({"actions": [action]}), flush=True)
    elif message["type"] == "end":
        break
