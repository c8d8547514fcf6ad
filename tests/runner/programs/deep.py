"""Answers with JSON deeper than any stack."""

import sys

for line in sys.stdin:
    if '"hello"' in line:
        print('{"type":"ready"}')
    elif '"decide"' in line:
        print('{"a":' + "[" * 60_000)
