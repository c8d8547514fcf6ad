"""Two dispatchers on one database, and a dispatcher that is supervised."""

import time
from threading import Event

import pytest
from django.conf import settings
from structlog.testing import capture_logs

from ladder.dispatch.dispatcher import Dispatcher
from ladder.ops import embedded

MANAGE = str(settings.BASE_DIR / "manage.py")
TIMEOUT_S = 120.0


def test_a_dispatcher_that_ends_is_started_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In `up` pages went on, but nothing was played any more."""
    runs = []
    second = Event()

    def run(_: Dispatcher, stop: Event) -> None:
        runs.append(1)
        if len(runs) == 1:
            raise RuntimeError("the first one dies")
        second.set()
        stop.wait()

    monkeypatch.setattr(embedded.Dispatcher, "run", run)
    part = embedded.EmbeddedPart("dispatcher", embedded.dispatch)
    with capture_logs() as logged:
        part.start()
        deadline = time.monotonic() + TIMEOUT_S
        while not second.is_set() and time.monotonic() < deadline:
            part.start()  # as `up` does twice a second
            second.wait(0.05)
        part.close()

    assert len(runs) == 2
    events = [entry["event"] for entry in logged]
    assert events == ["the dispatcher ended", "the dispatcher ended and is restarted"]
