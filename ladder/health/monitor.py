"""The monitor: looks at the signs of life again and again, and sends alarms.

It is no part of the dispatcher, because it has to tell that the dispatcher has ended.
"""

import threading
import time
import urllib.request
from collections.abc import Callable
from urllib.error import HTTPError

import structlog
from django.conf import settings
from django.db import Error, connection

from ladder.common import statement_limits
from ladder.health import alarms, sentinels, signs
from ladder.health.alarms import AlarmBook
from ladder.health.signs import Sign

INTERVAL_S = 5.0
TOTALS_INTERVAL_S = 60.0
WEB_TIMEOUT_S = 10.0

log = structlog.get_logger()


class Monitor:
    """Looks every INTERVAL_S. `web` are the addresses of web servers to try, too.

    It calls `goes_on` before each look.
    """

    def __init__(
        self, web: list[str], goes_on: Callable[[], None] = lambda: None
    ) -> None:
        self._goes_on = goes_on
        self._web = web
        self._book = AlarmBook()
        self._totals_at = float("-inf")
        self._totals: list[Sign] = []

    def run(self, stop: threading.Event) -> None:
        """Look until `stop` is set. No error ends it."""
        while not stop.is_set():
            self._goes_on()
            try:
                self.step()
            except Exception as error:
                cut_off = statement_limits.met_by(error)
                log.exception("the monitor failed to look", **cut_off)
            connection.close_if_unusable_or_obsolete()
            stop.wait(INTERVAL_S)

    def step(self) -> None:
        """Look once, and send the alarms that follow."""
        for alarm in self._book.changes(self.look()):
            alarms.send(alarm)

    def look(self) -> list[Sign]:
        """Return the signs of all parts, of the totals, and of the web servers."""
        seen = signs.look()
        has_database = signs.is_ready(seen, [signs.DATABASE])
        if has_database and time.monotonic() >= self._totals_at:
            self._totals_at = time.monotonic() + TOTALS_INTERVAL_S
            self._look_at_totals()
        return [*seen, *self._totals, *(_web(address) for address in self._web)]

    def _look_at_totals(self) -> None:
        try:
            self._totals = [signs.lost_games(), *sentinels.look()]
        except Error as error:
            cut_off = statement_limits.met_by(error)
            log.warning("cannot add up the games", error=str(error), **cut_off)


def _web(address: str) -> Sign:
    """Ask a web server whether it answers. Its own look at other parts is not used."""
    part = f"web server {address}"
    try:
        with urllib.request.urlopen(f"{address}/healthz", timeout=WEB_TIMEOUT_S):  # noqa: S310 -- the settings check the scheme
            return Sign(part)
    except HTTPError as error:
        problem = f"It answers with status {error.code}."
    except (OSError, ValueError) as error:
        problem = f"It does not answer: {error}."
    return Sign(part, problem, f"Look at the logs of {address}, and start it again.")


def web_addresses() -> list[str]:
    """Return the addresses of TORRES_MONITOR_WEB without a final slash."""
    return [address.rstrip("/") for address in settings.TORRES_MONITOR_WEB]
