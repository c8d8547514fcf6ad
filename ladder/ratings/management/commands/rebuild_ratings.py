"""`manage.py rebuild_ratings`: fold all ledgers from the first entry."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ladder.ratings import rebuild
from ladder.ratings.models import Season


class Command(BaseCommand):
    help = "Build all ratings again from the ledger, or check them bit for bit."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--check",
            action="store_true",
            help="compare the stored ratings with the ledger, and change nothing",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        complaints = 0
        for season in Season.objects.select_related("ladder").order_by("pk"):
            if not options["check"]:
                bots = rebuild.rebuild(season)
                self.stdout.write(f"{season}: {bots} ratings built again")
                continue
            report = rebuild.check(season)
            complaints += len(report.complaints)
            for complaint in report.complaints:
                self.stderr.write(f"{season}: {complaint}")
            if not report.complaints:
                self.stdout.write(
                    f"{season}: {report.entries} entries, all ratings the same"
                )
        if complaints:
            raise CommandError(
                "The stored ratings are not those of the ledger. Run rebuild_ratings"
                " without --check to build them again."
            )
