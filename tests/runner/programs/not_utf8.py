"""Answers with bytes that are not UTF-8."""

import sys

for line in sys.stdin:
    if '"hello"' in line:
        print('{"type":"ready"}')
    elif '"decide"' in line:
        sys.stdout.buffer.write(b'{"index":0,"note":"\xff\xfe"}\n')
        sys.stdout.buffer.flush()
