"""`manage.py audit`: check every invariant of a service at rest."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from ladder.common.commands import LongCommand
from ladder.ops import console, invariants


class Command(LongCommand):
    help = "Check all games, replays and ratings. Run it while no game is played."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--no-forfeits",
            action="store_true",
            help="treat every forfeit as a fault of the service (for bots that"
            " never forfeit by themselves)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        results = invariants.check(forfeits=not options["no_forfeits"])
        violated = [result for result in results if not console.report(result)]
        if violated:
            raise CommandError(
                f"{len(violated)} invariants do not hold. If a game was played"
                " meanwhile, wait until none is and run the audit again."
            )
