"""Answers with a number of 60,000 digits."""

import sys

for line in sys.stdin:
    if '"hello"' in line:
        print('{"type":"ready"}')
    elif '"decide"' in line:
        print('{"index":' + "9" * 60_000 + "}")
