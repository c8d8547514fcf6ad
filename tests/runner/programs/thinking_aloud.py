"""Says its thoughts with each answer; some of them are hostile or of a wrong form."""

import json
import sys

TEXTS = [
    '"<script>alert(1)</script>\\u001b[31m \\u202eevil\\n next"',
    '{"deep": [1]}',
    "5",
    json.dumps("x" * 7_000),
    json.dumps("y" * 190),
    "null",
]
CHANCES = ["0.63149", "2", "1e999", '"half"', "null", "true"]

answers = 0
for line in sys.stdin:
    if '"hello"' in line:
        print('{"type":"ready"}', flush=True)
    elif '"decide"' in line:
        say = TEXTS[answers % len(TEXTS)] if answers < 6 else TEXTS[4]
        expect = CHANCES[answers % len(CHANCES)]
        print(f'{{"index":0,"say":{say},"expect":{expect}}}', flush=True)
        answers += 1
