"""Play the attacks on memory and processes at level full; print a JSON line for each.

It does without pytest, because pytest takes minutes to start on an emulated CPU.
"""

import dataclasses
import json
import os
import sys

from engine.referee import ServiceFault
from tests.runner.factories import (
    HELLO,
    PROGRAMS,
    BotContest,
    contest,
    groups_left,
    player,
    survivors,
)
from torres.runner.protocol import Limits
from torres.runner.sandbox import Sandbox, open_sandbox

ATTACKS = PROGRAMS.parent / "attacks"
NAMES = sorted(p.stem for p in ATTACKS.glob("*.py") if p.stem[:4] in {"mem_", "fork"})
LIMITS = Limits(memory_mb=96, start_ms=120_000)
TRIES = 3
TIME_FACTOR = 10
"""A bot has this multiple of the time that it has in the other tests."""


def main() -> None:
    os.environ["TORRES_SLOT_UIDS"] = "61000-61999"
    sandbox = open_sandbox("full")
    for name in NAMES:
        game = play_attack(name, sandbox)
        report = {
            "name": name,
            "reason": game.fault and game.fault.reason,
            "detail": game.fault and game.fault.detail,
            "stderr": game.stderr,
            "answers": game.answers,
            "opponent_answers": game.opponent_answers,
            "survivors": survivors(),
            "groups_left": [str(path) for path in groups_left()],
        }
        print(json.dumps(report), flush=True)
    sandbox.close()


def play_attack(name: str, sandbox: Sandbox) -> BotContest:
    """Play one game. Retry after a ServiceFault of a busy machine, as a worker does."""
    move_ms = 1_500 if "fork" in name else 15_000 * TIME_FACTOR
    for _ in range(TRIES):
        bot = player(ATTACKS / f"{name}.py", sandbox, LIMITS)
        opponent = player(PROGRAMS / "first.py", sandbox, LIMITS)
        opponent.start(dataclasses.replace(HELLO, seat=1))
        try:
            game = contest(bot, sandbox, move_ms=move_ms, against=opponent)
        except ServiceFault as fault:
            print(f"{name}: {fault}", file=sys.stderr, flush=True)
            bot.kill()
            opponent.kill()
        else:
            opponent.end([0, 1], [2, 1], "completed")
            return game
    raise ServiceFault(f"{name} ended with a ServiceFault in {TRIES} games")


if __name__ == "__main__":
    main()
