"""Works for 40 ms before each answer, and then sleeps for 300 ms."""

import sys
import time

for line in sys.stdin:
    if '"hello"' in line:
        print('{"type":"ready"}')
    elif '"decide"' in line:
        until = time.process_time() + 0.04
        while time.process_time() < until:
            pass
        time.sleep(0.3)
        print('{"index":0}')
