"""Sends its first answer together with `ready`, before the question."""

import sys

for line in sys.stdin:
    if '"hello"' in line:
        sys.stdout.write('{"type":"ready"}\n{"index":0}\n')
        sys.stdout.flush()
