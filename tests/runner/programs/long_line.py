"""Answers with ten megabytes without a newline."""

import sys

for line in sys.stdin:
    if '"hello"' in line:
        print('{"type":"ready"}')
    elif '"decide"' in line:
        sys.stdout.write("x" * 10_000_000)
        sys.stdout.flush()
