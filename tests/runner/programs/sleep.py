"""Sleeps until its time is up."""

import sys
import time

for line in sys.stdin:
    if '"hello"' in line:
        print('{"type":"ready"}')
    elif '"decide"' in line:
        time.sleep(60)
