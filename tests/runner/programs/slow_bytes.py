"""Answers byte by byte, until its time is up."""

import sys
import time

for line in sys.stdin:
    if '"hello"' in line:
        print('{"type":"ready"}')
    elif '"decide"' in line:
        for letter in '{"index":0}' + " " * 10_000:
            sys.stdout.write(letter)
            sys.stdout.flush()
            time.sleep(0.01)
