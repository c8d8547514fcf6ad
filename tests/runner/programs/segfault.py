"""Reads from address 0."""

import ctypes
import sys

for line in sys.stdin:
    if '"hello"' in line:
        print('{"type":"ready"}')
    elif '"decide"' in line:
        ctypes.string_at(0)
