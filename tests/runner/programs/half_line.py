"""Answers with half a line, and writes no more."""

import sys

for line in sys.stdin:
    if '"hello"' in line:
        print('{"type":"ready"}')
    elif '"decide"' in line:
        sys.stdout.write('{"ind')
        sys.stdout.flush()
