"""A watchdog: ends a process whose loop stands still, so that it is started again.

A process that hangs, for example in a call that never returns, looks alive to its
supervisor. It cannot be repaired from inside, because the thread that hangs holds what
the others need. While the loop goes on, the watchdog tells systemd (`WatchdogSec`), and
writes TORRES_ALIVE_FILE, which health checks of containers look at. So a supervisor
also sees a process in which no thread runs.
"""

import os
import socket
import threading
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

import structlog
from django.conf import settings

LIMIT_S = 120.0
"""Longer than any step of a loop on a busy host."""
LOOKS = 120
EXIT_CODE = 70  # EX_SOFTWARE of sysexits.h

log = structlog.get_logger()


class Watchdog:
    """Ends this process unless `pet` is called at least once in `limit_s`.

    It counts its own looks and no clock. So a process that was frozen, with all its
    threads, goes on afterwards.
    """

    def __init__(self, limit_s: float = LIMIT_S) -> None:
        self._pause_s = limit_s / LOOKS
        self._looks = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="watchdog", daemon=True)

    def pet(self) -> None:
        """Say that the loop goes on."""
        self._looks = 0

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._ended.wait(self._pause_s):
            self._looks += 1
            if self._looks > LOOKS:
                log.critical("the loop of this process stands still, so it ends")
                os._exit(EXIT_CODE)
            with suppress(OSError):  # a full disk, or a supervisor that hangs
                _say_alive()


def _say_alive() -> None:
    """Tell the supervisors. Raises OSError."""
    if settings.TORRES_ALIVE_FILE:
        Path(settings.TORRES_ALIVE_FILE).touch()
    if address := os.environ.get("NOTIFY_SOCKET"):  # sd_notify(3)
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as to_systemd:
            to_systemd.setblocking(False)
            to_systemd.sendto(b"WATCHDOG=1", address.replace("@", "\0", 1))
