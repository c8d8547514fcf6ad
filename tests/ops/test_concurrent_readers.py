"""On SQLite, games and readers at the same time do not block each other."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import Thread

import pytest

from tests.ops.test_up import MANAGE, data, sound_totals
from torres.common.pause import pause

__all__ = ["data"]

READERS_PROGRAM = Path(__file__).with_name("simulated_readers.py")
TIMEOUT_S = 240
MAX_RESPONSE_S = 20  # generous, because the machine may be busy with other work


def finished(lines: list[str]) -> int:
    """Return how many games the service has printed."""
    return sum(line.startswith("game ") for line in lines)


def assert_nobody_is_refused(home: dict[str, str], games: int, readers: int) -> None:
    """Run four games at once, read pages over HTTP, and check every response."""
    service = subprocess.Popen(
        [*MANAGE, "up", "--slots", "4", "--port", "0"],
        env=home | {"TORRES_RATE_ANONYMOUS": "1000000", "TORRES_RATE_PAGES": "1000000"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    banner = next(line for line in service.stdout if line.startswith("LADDER="))
    address = banner.removeprefix("LADDER=").strip()
    reading = subprocess.Popen(
        [sys.executable, str(READERS_PROGRAM), address, str(readers)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    lines: list[str] = []
    printed = Thread(target=lambda: lines.extend(service.stdout), daemon=True)
    printed.start()
    assert reading.stderr.readline() == "reading\n"
    before = finished(lines)
    deadline = time.monotonic() + TIMEOUT_S
    while finished(lines) < before + games:
        assert time.monotonic() < deadline
        pause(0.1)
    service.send_signal(signal.SIGTERM)
    service.wait(TIMEOUT_S)
    printed.join()
    service.stdout.close()
    responses = json.loads(reading.communicate(timeout=TIMEOUT_S)[0])
    print(f"{games} games beside {readers} readers: {responses}")

    assert service.returncode == 0, lines
    assert "locked" not in "".join(lines)
    assert set(responses["statuses"]) == {"200"}, responses
    assert responses["slowest_s"] < MAX_RESPONSE_S, responses
    sound_totals(home)


@pytest.mark.slow
def test_players_and_readers_do_not_lock_each_other_out(data):
    assert_nobody_is_refused(data, games=15, readers=40)
