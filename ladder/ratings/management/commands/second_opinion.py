"""`manage.py second_opinion`: estimate all strengths of a season from all its games."""

import os
from typing import Any

from django.core.management.base import CommandError, CommandParser

from ladder.common.commands import LongCommand, be_nice
from ladder.ratings import second_opinion
from ladder.ratings.models import Season


class Command(LongCommand):
    help = (
        "Store a second opinion on each season whose ledger has grown since the last"
        " one. The dispatcher starts this by itself. It may be stopped at any moment."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--ladder", help="the newest season of this ladder, now (its slug)"
        )

    def handle(self, *args: Any, ladder: str | None = None, **options: Any) -> None:
        be_nice()
        # numpy reads this when it is imported. More threads would take the processors
        # from the workers.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        from ladder.ratings.season_estimate import make_opinion  # noqa: PLC0415

        for season in self._seasons(ladder):
            opinion = make_opinion(season)
            if opinion is not None:
                self.stdout.write(
                    f"{season}: {opinion.games} games of {opinion.submissions}"
                    f" submissions up to entry {opinion.seq}"
                )

    def _seasons(self, ladder: str | None) -> list[Season]:
        if ladder is None:
            return second_opinion.due_seasons()
        seasons = Season.objects.filter(ladder__slug=ladder)
        newest = seasons.select_related("ladder").order_by("-number").first()
        if newest is None:
            raise CommandError(f"Ladder {ladder!r} has no season.")
        return [newest]
