"""Uses the project's engine, and finds nothing else of the project."""

import sys

import engine

try:
    import ladder
except ImportError:
    ladder = None

for line in sys.stdin:
    if '"hello"' in line:
        print('{"type":"ready"}')
    elif '"decide"' in line:
        assert ladder is None
        assert engine.__name__ == "engine"
        print('{"index":0}')
