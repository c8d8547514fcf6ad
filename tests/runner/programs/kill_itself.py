"""Kills itself with a signal that may also come from the kernel or an operator."""

import os
import signal
import sys

for line in sys.stdin:
    if '"hello"' in line:
        print('{"type":"ready"}', flush=True)
    elif '"decide"' in line:
        os.kill(os.getpid(), signal.SIGKILL)
