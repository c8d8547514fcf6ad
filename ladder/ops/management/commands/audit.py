"""`manage.py audit`: every invariant of a service at rest, one by one."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ladder.ops import invariants
from ladder.ops.console import told


class Command(BaseCommand):
    help = "Check all games, replays and ratings, while nothing is played."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--no-forfeits",
            action="store_true",
            help="bots never forfeit here by their own fault, so nobody may have",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        verdicts = invariants.check(forfeits=not options["no_forfeits"])
        broken = [verdict for verdict in verdicts if not told(verdict)]
        if broken:
            raise CommandError(f"{len(broken)} invariants do not hold.")
