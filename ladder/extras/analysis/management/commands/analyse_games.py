"""`manage.py analyse_games`: compute the analyses that wait."""

import os
from typing import Any

from ladder.common.commands import ServiceCommand
from ladder.extras.analysis import work

NICENESS = 10


class Command(ServiceCommand):
    help = (
        "Compute the analyses of games that users have requested, and end. The"
        " dispatcher starts this by itself. It may be stopped at any moment."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        os.nice(NICENESS)
        self.stdout.write(f"{work.work_off()} analyses computed")
