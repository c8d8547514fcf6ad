"""Long folds as a process of their own, beside the dispatcher.

A fold needs a processor for up to a minute. In a thread of the dispatcher it would take
turns with the dispatcher's own work, so that hints become late.
"""

from ladder.common.background import BackgroundCommand
from ladder.ratings import corrections, selectors


class VoidFolder(BackgroundCommand):
    """Runs `manage.py fold_voids`. The next one continues from the last checkpoint."""

    command = "fold_voids"

    def has_work(self) -> bool:
        """True if voided games wait for a long pass."""
        seasons = selectors.unarchived().values_list("pk", flat=True)
        return any(corrections.needs_long_pass(season) for season in seasons)
