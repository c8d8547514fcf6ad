"""Answers with an illegal action whose refusal is longer than a pipe is wide."""

import json
import sys

for line in sys.stdin:
    kind = json.loads(line)["type"]
    if kind == "hello":
        print('{"type":"ready"}', flush=True)
    elif kind == "decide":
        print(json.dumps({"actions": ["é" * 30_000]}, ensure_ascii=False), flush=True)
