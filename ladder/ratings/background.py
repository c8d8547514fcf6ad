"""Run long folds in a process of their own, beside the dispatcher.

A fold needs a processor for up to a minute. In a thread of the dispatcher it would take
turns with the dispatcher's own work, so that hints become late.
"""

import subprocess
import sys
import time

import structlog
from django.conf import settings

from ladder.ratings import corrections, selectors

PAUSE_AFTER_FAILURE_S = 30.0

log = structlog.get_logger()


class VoidFolder:
    """Starts `manage.py fold_voids` when voided games wait for a long pass.

    The process may be killed at any moment, and a second one does no harm. What it has
    folded so far is in checkpoints.
    """

    def __init__(self) -> None:
        self._child: subprocess.Popen[bytes] | None = None
        self._not_before = float("-inf")

    def ensure(self) -> None:
        """Start the process if it is needed and does not run. Returns at once."""
        if self._is_running() or time.monotonic() < self._not_before:
            return
        seasons = selectors.unarchived().values_list("pk", flat=True)
        if any(corrections.needs_long_pass(season) for season in seasons):
            self._child = subprocess.Popen(
                [sys.executable, settings.BASE_DIR / "manage.py", "fold_voids"],
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
            log.error("folding voided games failed and is tried again", exit_code=code)
            self._not_before = time.monotonic() + PAUSE_AFTER_FAILURE_S
        self._child = None
        return False

    def close(self) -> None:
        """Stop the process. The next one continues from its last checkpoint."""
        if self._child is not None:
            self._child.terminate()
            self._child.wait()
            self._child = None
