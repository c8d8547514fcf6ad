"""Answers with the index 1,000,000."""

import sys

for line in sys.stdin:
    if '"hello"' in line:
        print('{"type":"ready"}')
    elif '"decide"' in line:
        print('{"index":1000000}')
