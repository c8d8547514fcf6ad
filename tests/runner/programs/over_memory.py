"""Uses more and more memory when it is asked."""

import sys

kept = []
for line in sys.stdin:
    if '"hello"' in line:
        print('{"type":"ready"}', flush=True)
    elif '"decide"' in line:
        while True:
            kept.append(b"x" * (1 << 20))
