"""Plays with a bot that naps for 300 ms in each decision, as a process of its own.

``slow_decisions COUNT MOVE_MS`` prints a line before each decision and, at the end, the
charges in ms. A forfeit ends it with a traceback.
"""

import sys

from tests.runner.factories import HELLO, PROGRAMS, ask, player
from torres.runner.sandbox import open_sandbox


def main(count: int, move_ms: int) -> None:
    bot = player(PROGRAMS / "nap.py", open_sandbox("full"))
    bot.start(HELLO)
    charges = []
    for _ in range(count):
        print("decision", flush=True)
        charges.append(bot.decide(ask(move_ms=move_ms)).ms)
    bot.kill()
    print(*charges, flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
