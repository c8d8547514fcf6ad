"""`manage.py fold_voids`: take voided games out of the ratings."""

import os
from typing import Any

from ladder.common.commands import ServiceCommand
from ladder.ratings import corrections
from ladder.ratings.ledger_writer import LedgerConflict

NICENESS = 10


class Command(ServiceCommand):
    help = (
        "Take voided games out of the ratings of all seasons. The dispatcher starts"
        " this by itself. It may be stopped at any moment, and run again."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        os.nice(NICENESS)
        for season in corrections.waiting_seasons():
            try:
                entries = corrections.fold_voids(season)
            except LedgerConflict:
                continue  # another process takes them out
            self.stdout.write(f"season {season}: {entries} voided games taken out")
