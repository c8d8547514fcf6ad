"""Sleeps for 300 ms before each answer."""

import sys
import time

for line in sys.stdin:
    if '"hello"' in line:
        print('{"type":"ready"}')
    elif '"decide"' in line:
        time.sleep(0.3)
        print('{"index":0}')
