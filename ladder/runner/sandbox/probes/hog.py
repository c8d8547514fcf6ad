"""Asks for more memory than it may have, and says so if it got it."""

import sys

kept = []
for _ in range(int(sys.argv[1])):
    kept.append(b"x" * (1 << 20))
print("THROUGH", flush=True)
