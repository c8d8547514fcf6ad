"""Leaves behind more processes than its limit; each of them ends at once."""

import os
import sys
import time


def leave_one_behind():
    if not (child := os.fork()):
        os.fork()
        os._exit(0)
    return os.waitpid(child, 0)[1] == 0


for line in sys.stdin:
    if '"hello"' in line:
        print('{"type":"ready"}', flush=True)
    elif '"decide"' in line:
        for _ in range(100):
            until = time.monotonic() + 3
            while not leave_one_behind():  # Until the others are reaped.
                if time.monotonic() > until:
                    sys.exit("there are too many")
        print('{"index":0}', flush=True)
