"""The page that trains a bot, followed word for word in an empty folder."""

import json
import time
from pathlib import Path

import pytest

from tests.docs.pages import PAGES_FOLLOWED, follow, run, steps

PAGE = PAGES_FOLLOWED["training"]
MAX_MINUTES = 15  # what the page promises
MAX_WON_BEFORE = 0.25
MIN_WON = 0.85
"""The untrained bot wins few games against house:greedy, and the trained one most."""


def games_won(command: str, folder: Path) -> float:
    """Return the share of the games of a match that its first bot won alone."""
    # The same command again prints the stored results of the games.
    lines = run(f"{command} --json", folder).stdout.splitlines()
    games = [json.loads(line) for line in lines[:-1]]
    assert not any(game["forfeits"] for game in games)
    won = [
        game["ranks"][game["bots"].index(0)] == 1 and game["ranks"].count(1) == 1
        for game in games
    ]
    assert len(won) >= 40
    return sum(won) / len(won)


@pytest.mark.deep
def test_the_page_trains_a_bot_that_beats_greedy(tmp_path: Path) -> None:
    began = time.monotonic()
    won = []
    for text, output in follow(PAGE, tmp_path):
        assert "FAULT" not in output
        if text.startswith("torres match"):
            won.append(games_won(text, tmp_path))
    minutes = (time.monotonic() - began) / 60
    print(f"{minutes:.1f} minutes, won: {won[0]:.0%} before, {won[1]:.0%} after")

    before, after = won
    assert before <= MAX_WON_BEFORE
    assert after >= MIN_WON
    assert minutes <= MAX_MINUTES


def test_the_bot_that_is_uploaded_needs_the_engine_only() -> None:
    bot = next(content for file, content in steps(PAGE) if file == "bot/bot.py")
    imported = {
        line.split()[1].split(".")[0]
        for line in bot.splitlines()
        if line.startswith(("import ", "from "))
    }

    assert imported == {"engine", "json", "pathlib", "random", "sys"}
