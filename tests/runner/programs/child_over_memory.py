"""Lets a child ask for too much memory, and answers as if nothing had happened."""

import os
import sys

for line in sys.stdin:
    if '"hello"' in line:
        print('{"type":"ready"}')
    elif '"decide"' in line:
        pid = os.fork()
        if not pid:
            kept = []
            while True:
                kept.append(b"x" * (1 << 20))
        os.waitpid(pid, 0)
        print('{"index":0}')
