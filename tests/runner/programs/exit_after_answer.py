"""Answers correctly, and exits."""

import sys

for line in sys.stdin:
    if '"hello"' in line:
        print('{"type":"ready"}')
    elif '"decide"' in line:
        print('{"index":0}', flush=True)
        sys.exit(0)
