"""Closes its stdout, and goes on."""

import os
import signal
import sys

for line in sys.stdin:
    if '"hello"' in line:
        print('{"type":"ready"}')
    elif '"decide"' in line:
        os.close(1)
        signal.pause()
