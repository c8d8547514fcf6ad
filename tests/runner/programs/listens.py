"""Sleeps or floods its stdout as its answer, and writes down why it forfeits."""

import json
import os
import sys
import threading
import time


def answer():
    if os.environ.get("FLOOD"):
        while True:
            print("x" * 60_000, end="")
    time.sleep(600)


for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"ready"}', flush=True)
    elif message["type"] == "decide":
        threading.Thread(target=answer, daemon=True).start()
    elif message["type"] == "forfeit":
        print("told:", message["reason"], file=sys.stderr, flush=True)
        os._exit(0)
