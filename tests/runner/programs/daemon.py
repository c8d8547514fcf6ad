"""Leaves behind a daemon in a session of its own."""

import os
import signal
import sys

for line in sys.stdin:
    if '"hello"' in line:
        print('{"type":"ready"}', flush=True)
    elif '"decide"' in line:
        if not os.fork():
            os.setsid()
            if not os.fork():
                for fd in (0, 1, 2):
                    os.close(fd)
                while True:
                    signal.pause()
            os._exit(0)
        print('{"index":0}', flush=True)
