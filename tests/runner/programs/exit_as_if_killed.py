"""Exits with the code that a shell reports for a program that a signal killed."""

import os
import sys

for line in sys.stdin:
    if '"hello"' in line:
        print('{"type":"ready"}', flush=True)
    elif '"decide"' in line:
        sys.exit(int(os.environ.get("CODE", "137")))
