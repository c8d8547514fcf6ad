"""Answers with an action that is not legal."""

import sys

for line in sys.stdin:
    if '"hello"' in line:
        print('{"type":"ready"}')
    elif '"decide"' in line:
        print('{"actions":["play checkmate"]}')
