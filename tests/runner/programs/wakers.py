"""Starts children in sessions of their own that wake all processes without pause."""

import os
import signal
import sys

for _ in range(3):
    if not os.fork():
        os.setsid()
        while True:
            os.kill(-1, signal.SIGCONT)
for line in sys.stdin:
    if '"hello"' in line:
        print('{"type":"ready"}')
    elif '"decide"' in line:
        print('{"index":0}')
