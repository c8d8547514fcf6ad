"""Computes without end in several processes at once."""

import os
import sys

for line in sys.stdin:
    if '"hello"' in line:
        print('{"type":"ready"}')
    elif '"decide"' in line:
        pids = [os.fork() for _ in range(2)]
        while True:
            pass
