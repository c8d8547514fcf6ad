"""Exits with -1, which the kernel makes 255, instead of answering."""

import sys

for line in sys.stdin:
    if '"hello"' in line:
        print('{"type":"ready"}')
    elif '"decide"' in line:
        sys.exit(-1)
