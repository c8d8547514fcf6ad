"""Long computations as processes of their own, beside the dispatcher.

A fold or a second opinion needs a processor for up to a minute. In a thread of the
dispatcher it would take turns with the dispatcher's own work, so that hints become
late.
"""

import time

from ladder.common.background import BackgroundCommand
from ladder.ratings import corrections, second_opinion, selectors

OPINION_CHECK_INTERVAL_S = 30.0


class VoidFolder(BackgroundCommand):
    """Runs `manage.py fold_voids`. The next one continues from the last checkpoint."""

    command = "fold_voids"

    def has_work(self) -> bool:
        """True if voided games wait for a long pass."""
        seasons = selectors.unarchived().values_list("pk", flat=True)
        return any(corrections.needs_long_pass(season) for season in seasons)


class SecondOpinionProcess(BackgroundCommand):
    """Runs `manage.py second_opinion` if a ledger has grown enough."""

    command = "second_opinion"

    def __init__(self) -> None:
        super().__init__()
        self._checked_at = float("-inf")

    def has_work(self) -> bool:
        """True if a season needs a new second opinion; asked twice a minute."""
        now = time.monotonic()
        if now - self._checked_at < OPINION_CHECK_INTERVAL_S:
            return False
        self._checked_at = now
        return bool(second_opinion.due_seasons())
