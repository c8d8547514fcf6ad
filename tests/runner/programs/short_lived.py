"""Raises the pressure of its own control group with children, and sleeps."""

import json
import os
import sys
import time


def burn(seconds):
    ends = time.process_time() + seconds
    while time.process_time() < ends:
        pass


def think():
    while True:
        children = []
        for _ in range(12):
            child = os.fork()
            if child == 0:
                burn(0.004)
                os._exit(0)
            children.append(child)
        for child in children:
            os.waitpid(child, 0)
        time.sleep(0.6)


for line in sys.stdin:
    kind = json.loads(line)["type"]
    if kind == "hello":
        print('{"type":"ready"}', flush=True)
    elif kind == "decide":
        think()
