"""The daily dataset as a process of its own, beside the dispatcher."""

import time

from django.conf import settings
from django.utils import timezone

from ladder.common.background import BackgroundCommand
from ladder.extras.datasets import published

CHECK_INTERVAL_S = 60.0


class DatasetProcess(BackgroundCommand):
    """Runs `manage.py dataset` if there is none of today. It goes on where it was."""

    command = "dataset"

    def __init__(self) -> None:
        super().__init__()
        self._checked_at = float("-inf")

    def has_work(self) -> bool:
        """True if datasets are wanted and that of today is not complete."""
        now = time.monotonic()
        if not settings.TORRES_DATASETS or now - self._checked_at < CHECK_INTERVAL_S:
            return False
        self._checked_at = now
        return timezone.now().date().isoformat() not in published.days()
