"""On a busy machine, a bot that uses half of its time budget never forfeits."""

import os
from pathlib import Path

import pytest

from engine.referee import Answer, PlayerFault, ServiceFault
from tests.runner.factories import HELLO, PROGRAMS, ask
from tests.runner.starvation import Starvation
from torres.runner import compiler, languages
from torres.runner.languages import locate
from torres.runner.process import BotProcess
from torres.runner.protocol import Limits
from torres.runner.sandbox import Program, Sandbox, SandboxUnavailable, open_sandbox

DECISIONS = int(os.environ.get("TESTS_SOAK_DECISIONS", "1000"))
BUDGET_MS = 100.0  # each decision uses 50
MAX_UNJUDGED_GAMES = 3
LOOPS = 2  # a bot gets a third of its processor


def decided(program: Program, sandbox: Sandbox, starvation: Starvation) -> list[Answer]:
    """Return the answers of a bot; of the next one where the clock could not judge.

    If the clock cannot judge, a worker plays the game again, so this is no forfeit. A
    forfeit raises PlayerFault.
    """
    answers: list[Answer] = []
    for _ in range(1 + MAX_UNJUDGED_GAMES):
        bot = BotProcess(program, sandbox, Limits(memory_mb=384, start_ms=20_000))
        try:
            bot.start(HELLO)
            starvation.starve(bot)
            # The first decision is slower, because code is loaded and compiled.
            bot.decide(ask(move_ms=10 * BUDGET_MS))
            while len(answers) < DECISIONS:
                answers.append(bot.decide(ask(len(answers), move_ms=BUDGET_MS)))
        except ServiceFault as ours:
            print(f"after {len(answers)}, not judged: {ours}", flush=True)
        except PlayerFault as fault:
            print(f"after {len(answers)}, forfeit: {fault}", flush=True)
            raise
        else:
            return answers
        finally:
            bot.kill()
    raise AssertionError(
        f"more than {MAX_UNJUDGED_GAMES} times the clock could not judge"
    )


@pytest.mark.soak
@pytest.mark.parametrize("language", ["python", "javascript", "go", "java"])
def test_half_of_the_budget_is_never_a_forfeit(language, tmp_path: Path) -> None:
    if packages := languages.missing(languages.BY_NAME[language]):
        pytest.skip(f"{language} needs {', '.join(packages)}")
    try:
        sandbox = open_sandbox("full")
    except SandboxUnavailable as why:
        pytest.skip(str(why))
    source = locate(PROGRAMS / "burn" / language)
    program = compiler.prepared(source, sandbox, tmp_path)
    try:
        with Starvation(LOOPS) as starvation:
            answers = decided(program, sandbox, starvation)
            print(starvation)
    finally:
        sandbox.close()

    walls = sorted(answer.wall_ms for answer in answers)
    charges = sorted(answer.ms for answer in answers)
    print(
        f"{language}: charged {charges[len(charges) // 2]:.1f} ms,"
        f" at most {charges[-1]:.1f}; wall {walls[len(walls) // 2]:.1f}, at most"
        f" {walls[-1]:.1f}"
    )
    assert charges[-1] < BUDGET_MS
    # Otherwise nothing was starved, and this test showed nothing.
    assert walls[len(walls) // 2] > 1.5 * charges[len(charges) // 2]
