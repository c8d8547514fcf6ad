"""A service of many processes is disrupted, on private servers."""

import subprocess
import sys

import pytest
from django.conf import settings

from ladder.ops.chaos.recovery import Recovery

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
def test_four_workers_play_150_games_under_chaos_and_every_invariant_holds():
    # Other tests run beside this one, so games need longer to go on.
    words = ("--games", "150", "--blows", "14", "--longest", "30", "--recovery", "120")
    out = chaos(*words, minutes=25)

    assert out.count(": yes") == 9
    assert "NO:" not in out
    assert "Longest time without a finished game" in out


def test_a_standstill_after_a_fault_is_found():
    recovery = Recovery()
    recovery.look(0.0, 1, can_play=True)
    recovery.begin("freeze")
    recovery.look(5.0, 2, can_play=True)
    recovery.look(21.0, 2, can_play=True)
    recovery.look(22.0, 3, can_play=True)
    recovery.begin("end of freeze")
    recovery.look(24.0, 4, can_play=True)
    recovery.begin("")

    assert recovery.gaps == [(17.0, "freeze"), (2.0, "end of freeze")]
    assert recovery.too_long(15.0) == [(17.0, "freeze")]
    assert "     1 x up to 2 s" in list(recovery.histogram())


def test_a_time_in_which_nothing_can_play_does_not_count():
    recovery = Recovery()
    recovery.begin("freeze")
    recovery.look(0.0, 1, can_play=True)
    recovery.look(100.0, 1, can_play=False)
    recovery.look(103.0, 2, can_play=True)
    recovery.begin("")

    assert recovery.gaps == [(3.0, "freeze")]
