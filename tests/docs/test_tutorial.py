"""The tutorial, followed word for word in an empty folder."""

import json
import shlex
import time
from pathlib import Path

import pytest

from tests.docs.pages import PAGES_FOLLOWED, follow, run, steps
from torres.cli.commands import COMMANDS

PAGE = PAGES_FOLLOWED["tutorial"]
MAX_S = 600
MIN_WON = 8
"""The search bot must win this many of its ten games against house:greedy."""


@pytest.mark.deep
def test_the_tutorial_leads_to_a_bot_that_beats_greedy(tmp_path: Path) -> None:
    began = time.monotonic()
    followed = 0
    for text, output in follow(PAGE, tmp_path):
        words = shlex.split(text)
        followed += 1
        if "ladder" in words:
            assert time.monotonic() - began < MAX_S
            assert "first" in output
        if words[1] == "match":
            again = run(f"{text} --json", tmp_path)
            ranks = [
                json.loads(line)["ranks"] for line in again.stdout.splitlines()[:-1]
            ]
            third = [row[k % 2] for k, row in enumerate(ranks)]
            assert third.count(1) >= MIN_WON, ranks
    assert followed >= 14


def test_the_tutorial_names_only_commands_that_exist() -> None:
    lines = [shlex.split(text) for file, text in steps(PAGE) if not file]
    named = {words[1] for words in lines if words[0] == "torres"}

    assert named <= set(COMMANDS)
    assert {"new", "check", "ladder", "match", "compare", "submit"} <= named
