"""Logs without end, and never answers."""

import sys

for line in sys.stdin:
    if '"hello"' in line:
        print('{"type":"ready"}')
    elif '"decide"' in line:
        while True:
            print("x" * 10_000, file=sys.stderr)
