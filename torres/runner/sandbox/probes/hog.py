"""Allocate more memory than the limit, and report if that succeeds or is refused."""

import sys

blocks = []
try:
    for _ in range(int(sys.argv[1])):
        blocks.append(b"x" * (1 << 20))
except MemoryError:  # a limit of each process alone
    blocks.clear()
    print("REFUSED", flush=True)
else:
    print("THROUGH", flush=True)
