"""On a busy machine, a bot that uses half of its time budget never forfeits."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.referee import Answer, PlayerFault, ServiceFault
from ladder.runner import compiler, languages
from ladder.runner.languages import locate
from ladder.runner.process import BotProcess
from ladder.runner.protocol import Limits
from ladder.runner.sandbox import Program, Sandbox, SandboxUnavailable, open_sandbox
from tests.runner.factories import HELLO, PROGRAMS, ask

DECISIONS = int(os.environ.get("TORRES_SOAK_DECISIONS", "1000"))
BUDGET_MS = 100.0  # each decision uses 50
MAX_UNJUDGED_GAMES = 3


@pytest.fixture
def busy() -> Iterator[None]:
    loops = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"])
        for _ in range(2 * (os.cpu_count() or 1))
    ]
    yield
    for loop in loops:
        loop.kill()
        loop.wait()


def decided(box: Program, sandbox: Sandbox) -> list[Answer]:
    """Return the answers of a bot; of the next one where the clock could not judge.

    If the clock cannot judge, a worker plays the game again, so this is no forfeit. A
    forfeit raises PlayerFault.
    """
    answers: list[Answer] = []
    for _ in range(1 + MAX_UNJUDGED_GAMES):
        bot = BotProcess(box, sandbox, Limits(memory_mb=384, start_ms=20_000))
        try:
            bot.start(HELLO)
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
def test_half_of_the_budget_is_never_a_forfeit(language, busy, tmp_path: Path) -> None:
    if packages := languages.missing(languages.BY_NAME[language]):
        pytest.skip(f"{language} needs {', '.join(packages)}")
    try:
        sandbox = open_sandbox("full")
    except SandboxUnavailable as why:
        pytest.skip(str(why))
    source = locate(PROGRAMS / "burn" / language)
    box = compiler.prepared(source, sandbox, tmp_path)
    try:
        answers = decided(box, sandbox)
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
