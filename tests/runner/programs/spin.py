"""Computes without end."""

import sys

for line in sys.stdin:
    if '"hello"' in line:
        print('{"type":"ready"}')
    elif '"decide"' in line:
        while True:
            pass
