"""Plays the first legal action."""

import sys

for line in sys.stdin:
    if '"type":"hello"' in line:
        sys.stdout.write('{"type":"ready"}\n')
    elif '"type":"decide"' in line:
        sys.stdout.write('{"index":0}\n')
