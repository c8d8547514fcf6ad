"""A service of many processes is disrupted, on private servers."""

import subprocess
import sys

import pytest
from django.conf import settings

pytestmark = [pytest.mark.servers, pytest.mark.usefixtures("_servers")]


def chaos(*words: str, minutes: int) -> str:
    result = subprocess.run(
        [sys.executable, str(settings.BASE_DIR / "manage.py"), "chaos", *words],
        capture_output=True,
        text=True,
        timeout=60 * minutes,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr[-5000:]
    return result.stdout


@pytest.mark.slow
@pytest.mark.long
def test_four_workers_play_300_games_under_chaos_and_every_invariant_holds():
    out = chaos("--games", "300", "--blows", "25", minutes=15)

    assert out.count(": yes") == 9
    assert "NO:" not in out
