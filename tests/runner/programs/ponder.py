"""Answers at once, and goes on thinking while other seats decide."""

import sys
import threading


def ponder():
    while True:
        pass


threading.Thread(target=ponder, daemon=True).start()
for line in sys.stdin:
    if '"hello"' in line:
        print('{"type":"ready"}')
    elif '"decide"' in line:
        print('{"index":0}')
