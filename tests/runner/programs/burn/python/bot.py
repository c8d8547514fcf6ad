"""Uses 50 ms of CPU time for each answer."""

import sys
import time

for line in sys.stdin:
    if '"type":"hello"' in line:
        sys.stdout.write('{"type":"ready"}\n')
    elif '"type":"decide"' in line:
        until = time.process_time() + 0.05
        while time.process_time() < until:
            pass
        sys.stdout.write('{"index":0}\n')
