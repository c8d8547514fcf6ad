"""Closes its stdin, stdout and stderr, and goes on."""

import os
import signal
import sys

for line in sys.stdin:
    if '"hello"' in line:
        print('{"type":"ready"}')
    elif '"decide"' in line:
        for fd in (0, 1, 2):
            os.close(fd)
        signal.pause()
