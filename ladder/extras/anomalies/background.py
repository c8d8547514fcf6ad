"""Reports of anomalies as a process of their own, beside the dispatcher."""

import time

from ladder.common.background import BackgroundCommand
from ladder.extras.anomalies import selectors

CHECK_INTERVAL_S = 300.0


class AnomalyProcess(BackgroundCommand):
    """Runs `manage.py anomalies` once a day if a ledger has grown."""

    command = "anomalies"

    def __init__(self) -> None:
        super().__init__()
        self._checked_at = float("-inf")

    def has_work(self) -> bool:
        """True if a season needs a new report; asked every few minutes."""
        now = time.monotonic()
        if now - self._checked_at < CHECK_INTERVAL_S:
            return False
        self._checked_at = now
        return bool(selectors.due_seasons())
