"""Long runs of the whole service, for minutes to hours (`make soak`)."""

import sys

import pytest
from django.conf import settings

from tests.ops.test_chaos import chaos
from tests.ops.test_concurrent_readers import assert_nobody_is_refused
from tests.ops.test_up import kill_repeatedly, manage, sound_totals
from tests.soak.factories import is_sound


@pytest.mark.usefixtures("_servers")
def test_ten_thousand_games_under_chaos():
    out = chaos(
        *("--games", "10000", "--blows", "400", "--longest", "180"), minutes=24 * 60
    )

    assert is_sound(out)


def test_a_service_with_real_bots_that_is_killed_ten_times_loses_nothing(
    data, monkeypatch
):
    manage_py = [sys.executable, str(settings.BASE_DIR / "manage.py")]
    monkeypatch.setattr("tests.ops.test_up.MANAGE", manage_py)
    kill_repeatedly(data, 10)

    manage(data, "up", "--once", "--games", "5")

    sound_totals(data)


def test_a_thousand_games_beside_three_hundred_readers_on_sqlite(data):
    assert_nobody_is_refused(data, games=1000, readers=300)
