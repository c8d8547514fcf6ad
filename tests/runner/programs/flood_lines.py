"""Writes messages of an unknown type without end."""

import sys

for line in sys.stdin:
    if '"hello"' in line:
        print('{"type":"ready"}')
    elif '"decide"' in line:
        while True:
            print('{"type":"chatter","text":"' + "x" * 1000 + '"}')
