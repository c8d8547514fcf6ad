"""Tell the planner of the database how large the tables are.

PostgreSQL gathers such statistics by itself. SQLite only does so when it is told to.
Without them SQLite takes an index of all finished games to be as good as one of the few
open pairings, and each upkeep reads every game that was ever played.
"""

import time

from django.db import connection

MAX_SHARE = 0.001
"""The share of the time that the refreshing may take."""


class PlannerStatistics:
    """Refreshes the statistics when it is called, but not too often.

    The next time follows from the last duration, because SQLite reads each index whole.
    """

    def __init__(self) -> None:
        self._next_at = float("-inf")

    def keep_fresh(self) -> None:
        """Refresh the statistics, unless that takes more than `MAX_SHARE`."""
        began = time.monotonic()
        if began >= self._next_at:
            refresh()
            ended = time.monotonic()
            self._next_at = ended + (ended - began) / MAX_SHARE


def refresh() -> None:
    """Let SQLite gather its statistics anew; do nothing with another database.

    This connection uses them at once, and others when they are opened again. Meanwhile
    other processes cannot write: 0.3 s with 100,000 games. Source: https://www.sqlite.org/lang_analyze.html
    """
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")
