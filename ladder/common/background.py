"""Commands of `manage.py` that run beside the dispatcher while they have work."""

import subprocess
import sys
import time
from abc import ABC, abstractmethod

import structlog
from django.conf import settings

from torres.common.parents import end_with_parent

PAUSE_AFTER_FAILURE_S = 30.0
STOP_TIMEOUT_S = 10.0

log = structlog.get_logger()


class BackgroundCommand(ABC):
    """Runs a command in a child process, and starts it again when there is more work.

    The command may be killed at any moment, and a second one does no harm. It ends with
    the thread that started it. Otherwise each dispatcher that is killed would leave one
    behind, and these can take a processor and a gigabyte for minutes.
    """

    command: str
    """The name of the command of `manage.py`."""

    def __init__(self) -> None:
        self._child: subprocess.Popen[bytes] | None = None
        self._not_before = float("-inf")

    @abstractmethod
    def has_work(self) -> bool:
        """True if the command would do something now."""

    def ensure(self) -> None:
        """Start the process if it is needed and does not run. Returns at once."""
        if self._is_running() or time.monotonic() < self._not_before:
            return
        if self.has_work():
            self._child = subprocess.Popen(
                [
                    *end_with_parent("TERM"),
                    *(sys.executable, settings.BASE_DIR / "manage.py", self.command),
                ],
                stdin=subprocess.DEVNULL,
                process_group=0,  # so that Ctrl-C reaches only this process
            )

    def close(self) -> None:
        """Stop the process."""
        if self._child is None:
            return
        self._child.terminate()
        try:
            self._child.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
        self._child = None

    def _is_running(self) -> bool:
        if self._child is None:
            return False
        code = self._child.poll()
        if code is None:
            return True
        if code:
            log.error(
                "a command failed and is tried again",
                command=self.command,
                exit_code=code,
            )
            self._not_before = time.monotonic() + PAUSE_AFTER_FAILURE_S
        self._child = None
        return False
