"""The tutorial, followed word for word in an empty folder."""

import json
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from ladder.cli.commands import COMMANDS

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/tutorial.md"
SAVE = "Save this as `"
MAX_S = 600
MIN_WON = 8
"""The search bot must win this many of its ten games against house:greedy."""


def steps() -> list[tuple[str, str]]:
    """Return the steps of the page: ("file name", content) and ("", command line)."""
    result = []
    saved_as = ""
    for token in MarkdownIt().parse(PAGE.read_text()):
        if token.type == "inline" and SAVE in token.content:
            saved_as = token.content.split(SAVE)[1].split("`")[0]
        if token.type == "fence" and token.info == "python":
            result.append((saved_as, token.content))
        elif token.type == "fence":
            result += [("", line) for line in token.content.splitlines()]
    return result


@pytest.mark.slow
def test_the_tutorial_leads_to_a_bot_that_beats_greedy(tmp_path: Path) -> None:
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "XDG_STATE_HOME": str(tmp_path / "state"),
    }
    began = time.monotonic()
    followed = 0
    for file, text in steps():
        if file:
            path = tmp_path / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            continue
        words = shlex.split(text)
        if words[:2] == ["torres", "login"]:
            break  # tests/cli/test_remote.py follows an upload
        done = subprocess.run(
            ["bash", "-ec", text],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, (text, done.stdout, done.stderr)
        followed += 1
        if "ladder" in words:
            assert time.monotonic() - began < MAX_S
            assert "first" in done.stdout
        if words[1] == "match":
            again = subprocess.run(
                ["bash", "-ec", f"{text} --json"],
                cwd=tmp_path,
                env=environment,
                capture_output=True,
                text=True,
                check=True,
            )
            ranks = [
                json.loads(line)["ranks"] for line in again.stdout.splitlines()[:-1]
            ]
            third = [row[k % 2] for k, row in enumerate(ranks)]
            assert third.count(1) >= MIN_WON, ranks
    assert followed >= 14


def test_the_tutorial_names_only_commands_that_exist() -> None:
    lines = [shlex.split(text) for file, text in steps() if not file]
    named = {words[1] for words in lines if words[0] == "torres"}

    assert named <= set(COMMANDS)
    assert {"new", "check", "ladder", "match", "compare", "submit"} <= named
