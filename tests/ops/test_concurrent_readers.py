"""On SQLite, games and readers at the same time do not block each other."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.ops.test_up import MANAGE, assert_sound, data

__all__ = ["data"]

READERS_PROGRAM = Path(__file__).with_name("simulated_readers.py")
MAX_RESPONSE_S = 20  # generous, because the machine may be busy with other work


def assert_nobody_is_refused(home: dict[str, str], games: int, readers: int) -> None:
    """Run four games at once, read pages over HTTP, and check every response."""
    service = subprocess.Popen(
        [*MANAGE, "up", "--slots", "4", "--once", "--games", str(games), "--port", "0"],
        env=home | {"TORRES_RATE_ANONYMOUS": "1000000", "TORRES_RATE_PAGES": "1000000"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    address = service.stdout.readline().removeprefix("LADDER=").strip()
    reading = subprocess.Popen(
        [sys.executable, str(READERS_PROGRAM), address, str(readers)],
        stdout=subprocess.PIPE,
        text=True,
    )
    output, errors = service.communicate(timeout=3600)
    responses = json.loads(reading.communicate(timeout=120)[0])
    print(f"{games} games beside {readers} readers: {responses}")

    assert service.returncode == 0, errors
    assert "locked" not in output + errors
    assert set(responses["statuses"]) == {"200"}, responses
    assert responses["slowest_s"] < MAX_RESPONSE_S, responses
    assert sum(line.startswith("game ") for line in output.splitlines()) >= games
    assert_sound(home)


@pytest.mark.slow
def test_players_and_readers_do_not_lock_each_other_out(data):
    assert_nobody_is_refused(data, games=15, readers=40)
