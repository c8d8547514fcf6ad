"""Says that it is ready, and what it will answer to whatever it is asked."""

import sys

for line in sys.stdin:
    if '"hello"' in line:
        sys.stdout.write('{"type":"ready"}\n{"index":0}\n')
        sys.stdout.flush()
