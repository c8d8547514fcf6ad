"""Logs text that could do harm in a browser or a terminal."""

import sys

print("<script>alert(1)</script>\x1b[2J\x00\xff", file=sys.stderr)
for line in sys.stdin:
    if '"hello"' in line:
        print('{"type":"ready"}')
    elif '"decide"' in line:
        sys.exit(1)
