"""The tests of the bot; run them in this folder with `python3 -m unittest`.

They need the package `engine`: take the Python in which `torres` is installed.
"""

import json
import random
import subprocess
import sys
import time
import unittest

import bot

from engine import PRESETS, TorresGame, derive, resolve
from engine.search import position_of

CLOCK = {"move_ms": 100, "bank_ms": 0}


def question(ruleset, seats, decision):
    """Return the first question of this kind in a game, and the rules."""
    rules = resolve(ruleset, seats)
    game = TorresGame(rules, derive(rules, "test"))
    while game.decision != decision:
        game.play(game.legal()[0])
    message = {"type": "decide", "decision": game.decision, "clock": CLOCK}
    message |= {"state": game.state(game.seat), "legal": game.legal()}
    return message, rules, game


class ChooseTest(unittest.TestCase):
    def test_it_plays_a_whole_turn_that_is_legal_in_every_ruleset(self):
        for ruleset in PRESETS:
            for seats in (2, 3, 4):
                message, rules, game = question(ruleset, seats, "turn")
                seat = game.seat
                actions = bot.choose(message, rules, seat, random.Random(1))
                for action in actions:
                    game.play(action)  # raises an error if the action is illegal
                self.assertGreater(len(actions), 1)

    def test_it_keeps_to_its_share_of_the_clock(self):
        message, rules, game = question("yucata", 4, "turn")
        began = time.process_time()
        bot.choose(message, rules, game.seat, random.Random(1))
        self.assertLess(time.process_time() - began, CLOCK["move_ms"] / 1000)

    def test_a_knight_on_a_higher_level_is_worth_more(self):
        message, rules, game = question("yucata", 2, "turn")
        position = position_of(rules, "turn", message["state"], rng=random.Random(1))
        before = bot.evaluate(position, game.seat)
        space = position.board.lowest(position.board.knights[game.seat])
        position.board.place(space)
        self.assertGreater(bot.evaluate(position, game.seat), before)


class ProtocolTest(unittest.TestCase):
    def test_it_says_that_it_is_ready(self):
        hello = {"type": "hello", "ruleset": "yucata", "seats": 2, "switches": {}}
        line = json.dumps(hello | {"seat": 0, "seed": "9f"}) + "\n"
        command = [sys.executable, "bot.py"]
        done = subprocess.run(
            command, input=line, capture_output=True, text=True, timeout=20
        )
        self.assertEqual(json.loads(done.stdout), {"type": "ready"})
        self.assertEqual(done.returncode, 0)


if __name__ == "__main__":
    unittest.main()
