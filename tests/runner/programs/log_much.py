"""Logs 300 KB and exits with an error; the last line is the interesting one."""

import sys

for line in sys.stdin:
    if '"hello"' in line:
        print('{"type":"ready"}')
    elif '"decide"' in line:
        for number in range(30_000):
            print(f"{number:09d}", file=sys.stderr)
        print("last words", file=sys.stderr)
        sys.exit(1)
