"""Aborts, as a failed assertion of C or an exception that C++ does not catch."""

import os
import sys

for line in sys.stdin:
    if '"hello"' in line:
        print('{"type":"ready"}', flush=True)
    elif '"decide"' in line:
        os.abort()
