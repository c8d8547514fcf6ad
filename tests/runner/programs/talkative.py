"""Sends unknown messages, unknown keys, and a note."""

import sys

for line in sys.stdin:
    if '"hello"' in line:
        print('{"type":"greeting"}')
        print('{"type":"ready","name":"Talkative","legal":false,"mood":[1]}')
    elif '"decide"' in line:
        print('{"type":"thinking"}')
        print('{"index":0,"mood":{},"note":"legal ' + str('"legal"' in line) + '"}')
