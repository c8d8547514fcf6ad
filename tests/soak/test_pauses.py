"""A real worker with real bots in the sandbox is stopped while they think."""

import shutil
import signal
import threading

import pytest

from tests.soak.factories import Fleet, fleet, is_sound

pytestmark = [pytest.mark.usefixtures("_servers"), pytest.mark.sandbox]
PAUSES = 5
PAUSE_S = 13.5  # longer than a bot may think, shorter than a lease


def open_with_house_bots(service: Fleet) -> None:
    """Start a worker, and let only house bots play."""
    service.open([()], slots=2, bots=0)
    service.shell(
        "from ladder.bots import house_bots", "house_bots.ensure_house_bots()"
    )


def test_pauses_of_a_worker_make_no_bot_forfeit():
    if shutil.which("setpriv") is None:
        pytest.skip("needs setpriv: apt-get install util-linux")
    with fleet(app="ladder.celery", env={"TORRES_SANDBOX": "full"}) as service:
        open_with_house_bots(service)
        for _ in range(PAUSES):
            service.until(lambda: len(service.busy()) == 2, 120)
            service.workers[0].send(signal.SIGSTOP)
            threading.Event().wait(PAUSE_S)
            service.workers[0].send(signal.SIGCONT)
            threading.Event().wait(3)
        report = service.settle()
        played = service.ask("SELECT COUNT(*) FROM games_game WHERE replay IS NOT NULL")
        faults = service.ask("SELECT fault, COUNT(*) FROM games_seat GROUP BY fault")

    print(f"{played[0][0]} games with {PAUSES} pauses: {faults}")
    assert faults == [("", faults[0][1])]
    assert is_sound(report)
