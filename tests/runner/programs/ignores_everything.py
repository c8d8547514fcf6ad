"""Ignores every signal that it can ignore, and the end of the game."""

import signal
import sys

for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
    signal.signal(number, signal.SIG_IGN)
for line in sys.stdin:
    if '"hello"' in line:
        print('{"type":"ready"}', flush=True)
    elif '"decide"' in line:
        print('{"index":0}', flush=True)
while True:
    signal.pause()
