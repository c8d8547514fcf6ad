"""House bot `banker`: it spends every action point on the scoring track.

It never builds. A bot that cannot beat these 5 points a turn has not begun to play.
"""

import json
import sys


def choose(legal):
    """Return "score" as long as that is possible, and then end the turn."""
    if "score" in legal:
        return "score"
    # There may be several ways to end the turn, which keep different stacks of blocks.
    # A stack may have to be taken first. All are the same to a bot that never builds.
    endings = [action for action in legal if action.split()[0] in {"end", "stack"}]
    if endings:
        return endings[-1]
    # This is no turn but, for example, the first knight or the king: any space will do.
    return legal[-1]


for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"ready","name":"banker"}', flush=True)
    elif message["type"] == "decide":
        print(json.dumps({"actions": [choose(message["legal"])]}), flush=True)
    elif message["type"] == "end":
        break
