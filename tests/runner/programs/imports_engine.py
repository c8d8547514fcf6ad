"""Imports the project's engine; no other package of the project is there."""

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
