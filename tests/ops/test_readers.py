"""SQLite as it is set up here: players and readers at once, and nobody is refused."""

import json
import subprocess
import sys
from pathlib import Path

from tests.ops.test_up import MANAGE, assert_sound, data

__all__ = ["data"]

CROWD = Path(__file__).with_name("crowd.py")
PATIENCE_S = 20
"""So long somebody waits for a page on a machine that others use, too."""


def assert_nobody_is_refused(home: dict[str, str], games: int, readers: int) -> None:
    """Let four games run at once, read over HTTP, and look at what everybody got."""
    service = subprocess.Popen(
        [*MANAGE, "up", "--slots", "4", "--once", "--games", str(games), "--port", "0"],
        env=home | {"TORRES_RATE_ANONYMOUS": "1000000"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    address = service.stdout.readline().removeprefix("LADDER=").strip()
    crowd = subprocess.Popen(
        [sys.executable, str(CROWD), address, str(readers)],
        stdout=subprocess.PIPE,
        text=True,
    )
    said, wrong = service.communicate(timeout=3600)
    seen = json.loads(crowd.communicate(timeout=120)[0])
    print(f"{games} games beside {readers} readers: {seen}")

    assert service.returncode == 0, wrong
    assert "locked" not in said + wrong
    assert set(seen["answers"]) == {"200"}, seen
    assert seen["slowest_s"] < PATIENCE_S, seen
    assert sum(line.startswith("game ") for line in said.splitlines()) >= games
    assert_sound(home)


def test_players_and_readers_do_not_lock_each_other_out(data):
    assert_nobody_is_refused(data, games=15, readers=40)
