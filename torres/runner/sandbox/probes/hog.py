"""Allocate more memory than the limit, and report if that succeeds."""

import sys

blocks = []
for _ in range(int(sys.argv[1])):
    blocks.append(b"x" * (1 << 20))
print("THROUGH", flush=True)
