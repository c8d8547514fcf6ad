"""Answers without reading the question."""

import signal
import sys

sys.stdin.readline()
print('{"type":"ready"}')
print('{"index":0}\n' * 3, end="")
while True:
    signal.pause()
