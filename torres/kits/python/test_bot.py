"""The tests of the bot; run them in this folder with `python3 -m unittest`."""

import json
import random
import subprocess
import sys
import unittest

import bot

HELLO = {"type": "hello", "protocol": "torres/1", "seats": 2, "seat": 0, "seed": "9f"}
DECIDE = {"type": "decide", "decision": "turn", "legal": ["block c4", "buy", "end"]}
END = {"type": "end", "scores": [61, 55], "ranks": [1, 2], "reason": "completed"}


class ChooseTest(unittest.TestCase):
    def test_it_plays_a_legal_action_and_goes_on_while_it_can(self):
        for seed in range(50):
            (action,) = bot.choose(DECIDE, random.Random(seed))
            self.assertIn(action, ["block c4", "buy"])

    def test_it_ends_the_turn_when_nothing_else_is_left(self):
        last = {**DECIDE, "legal": ["end 3,2", "end 3,3"]}
        self.assertIn(bot.choose(last, random.Random(1))[0], last["legal"])


class ProtocolTest(unittest.TestCase):
    def test_it_answers_each_question_once_and_exits(self):
        lines = "".join(json.dumps(message) + "\n" for message in (HELLO, DECIDE, END))
        command = [sys.executable, "bot.py"]
        done = subprocess.run(
            command, input=lines, capture_output=True, text=True, timeout=20
        )
        ready, answer = map(json.loads, done.stdout.splitlines())
        self.assertEqual(ready["type"], "ready")
        self.assertIn(answer["actions"][0], DECIDE["legal"])
        self.assertEqual(done.returncode, 0)


if __name__ == "__main__":
    unittest.main()
