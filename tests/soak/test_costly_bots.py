"""The house bots that search for long: their clock on a busy machine, and whole games.

TESTS_SOAK_DECISIONS and TESTS_SOAK_GAMES shorten the two tests.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine.game import TorresGame
from engine.referee import Answer, Ask, Hello, ServiceFault, play
from engine.rulesets import PRESETS, resolve
from engine.setup import derive
from ladder.bots.house_bots import COSTLY, HOUSE_FOLDER
from tests.runner.starvation import Starvation
from torres.runner.languages import locate
from torres.runner.process import BotProcess
from torres.runner.protocol import Limits

DECISIONS = int(os.environ.get("TESTS_SOAK_DECISIONS", "1000"))
GAMES = int(os.environ.get("TESTS_SOAK_GAMES", "20"))  # of each ruleset and table size
SHORT = "move_ms=80,bank_ms=1000"  # it makes the games short, and a timeout likelier
TORRES = Path(sys.executable).with_name("torres")
LIMITS = Limits(bank_ms=0)  # so that a turn that takes too long is a timeout
LOOPS = 4
MAX_UNJUDGED_GAMES = 3


class Starved(BotProcess):
    """A bot beside busy loops, with a list of the charged times of all its answers."""

    starvation: Starvation
    charged: list[float]

    def start(self, hello: Hello) -> None:
        super().start(hello)
        self.starvation.starve(self)

    def decide(self, ask: Ask) -> Answer:
        answer = super().decide(ask)
        self.charged.append(answer.ms)
        return answer


@pytest.mark.soak
@pytest.mark.parametrize("name", sorted(COSTLY))
def test_no_decision_exceeds_the_clock_beside_four_busy_loops(name: str, none) -> None:
    program = locate(HOUSE_FOLDER / name)
    rules = resolve("yucata", 2)
    charged: list[float] = []
    unjudged = games = 0
    with Starvation(LOOPS) as starvation:
        while len(charged) < DECISIONS:
            players = [Starved(program, none, LIMITS) for _ in range(2)]
            for player in players:
                player.starvation, player.charged = starvation, charged
            seed = f"clock-{games}"
            games += 1
            game = TorresGame(rules, derive(rules, seed))
            try:
                record = play(game, players, seed=seed, limits=LIMITS.as_dict())
            except ServiceFault as ours:  # the ladder would play this game again
                unjudged += 1
                print(f"after {len(charged)}, not judged: {ours}", flush=True)
                assert unjudged <= MAX_UNJUDGED_GAMES
            else:
                assert record.forfeits == []
            finally:
                for player in players:
                    player.kill()
        print(starvation)
    charged.sort()
    print(
        f"{name}: {len(charged)} decisions, {games} games:"
        f" {charged[len(charged) // 2]:.0f} ms in the middle, {charged[-1]:.0f} ms at"
        f" most of {LIMITS.move_ms}"
    )
    assert charged[-1] < LIMITS.move_ms


@pytest.mark.soak
@pytest.mark.parametrize("name", sorted(COSTLY))
@pytest.mark.parametrize("ruleset", PRESETS)
@pytest.mark.parametrize("seats", [2, 3, 4])
def test_no_game_is_forfeited(
    name: str, ruleset: str, seats: int, tmp_path: Path
) -> None:
    """Every ruleset and table size, on all processors, with short clocks."""
    words = ["--ruleset", ruleset, "--games", str(GAMES), "--state", str(tmp_path)]
    words += ["--limits", SHORT]
    done = subprocess.run(
        [TORRES, "match", *[f"house:{name}"] * seats, *words, "--json"],
        check=True,
        capture_output=True,
    )
    summary = json.loads(done.stdout.splitlines()[-1])["summary"]
    assert summary["played"] == GAMES
    assert [bot["forfeits"] for bot in summary["bots"]] == [{}] * seats
