"""A worker with real bots in the sandbox, and its dispatcher, are stopped and go on."""

import shutil
import signal
import threading

import pytest

from tests.soak.factories import Fleet, fleet, is_sound

pytestmark = [pytest.mark.usefixtures("_servers"), pytest.mark.sandbox]
PAUSES = 6
PAUSE_S = 13.5  # longer than a bot may think, shorter than a lease


def open_with_house_bots(service: Fleet, workers: int = 1) -> None:
    """Start workers, and let only house bots play."""
    service.manage("migrate", "--verbosity", "0")
    service.shell(
        "from ladder.bots import house_bots", "house_bots.ensure_house_bots()"
    )
    service.open([()] * workers, slots=2, bots=0)


def test_pauses_of_worker_and_dispatcher_make_no_bot_forfeit():
    if shutil.which("setpriv") is None:
        pytest.skip("needs setpriv: apt-get install util-linux")
    env = {"TORRES_SANDBOX": "full"}
    with fleet(app="ladder.celery", one_host=True, env=env) as service:
        open_with_house_bots(service)
        parts = [service.workers[0], service.scheduler]
        for k in range(PAUSES):
            service.until(lambda: len(service.busy()) == 2, 120)
            part = parts[k % len(parts)]
            part.send(signal.SIGSTOP)
            threading.Event().wait(PAUSE_S)
            part.send(signal.SIGCONT)
            threading.Event().wait(3)
        report = service.settle()
        played = service.ask("SELECT COUNT(*) FROM games_game WHERE replay IS NOT NULL")
        faults = service.ask("SELECT fault, COUNT(*) FROM games_seat GROUP BY fault")

    print(f"{played[0][0]} games with {PAUSES} pauses: {faults}")
    assert played[0][0] > PAUSES
    assert faults == [("", faults[0][1])]
    assert is_sound(report)
