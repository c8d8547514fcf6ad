"""Start the sender as a process of its own, beside the dispatcher.

It talks with servers of strangers, so it shares neither the memory nor the processor
time of the dispatcher.
"""

import subprocess
import sys
import time

import structlog
from django.conf import settings
from django.utils import timezone

from ladder.events import stream
from ladder.webhooks import deliveries
from ladder.webhooks.fan_out import active, behind

PAUSE_AFTER_FAILURE_S = 30.0
STOP_TIMEOUT_S = 10.0

log = structlog.get_logger()


class SenderProcess:
    """Runs `manage.py send_webhooks` while there is something to send."""

    def __init__(self) -> None:
        self._child: subprocess.Popen[bytes] | None = None
        self._not_before = float("-inf")

    def ensure(self) -> None:
        """Start the process if it is needed and does not run. Returns at once."""
        if self._is_running() or time.monotonic() < self._not_before:
            return
        if has_work():
            self._child = subprocess.Popen(
                [sys.executable, settings.BASE_DIR / "manage.py", "send_webhooks"],
                stdin=subprocess.DEVNULL,
                process_group=0,  # so that Ctrl-C reaches only this process
            )

    def _is_running(self) -> bool:
        if self._child is None:
            return False
        code = self._child.poll()
        if code is None:
            return True
        if code:
            log.error("sending webhooks failed and is tried again", exit_code=code)
            self._not_before = time.monotonic() + PAUSE_AFTER_FAILURE_S
        self._child = None
        return False

    def close(self) -> None:
        """Stop the process. The next one tries again what was being sent."""
        if self._child is not None:
            self._child.terminate()
            try:
                self._child.wait(STOP_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                self._child.kill()
                self._child.wait()
            self._child = None


def has_work() -> bool:
    """True if a webhook has to examine events, or a delivery waits for a try."""
    if not active().exists():
        return False
    stream.number_new()
    return behind().exists() or bool(deliveries.due(timezone.now(), 1, {}))
