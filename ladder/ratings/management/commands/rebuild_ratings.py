"""`manage.py rebuild_ratings`: folds the ledger from nothing."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ladder.ratings import rebuild
from ladder.ratings.models import Season


class Command(BaseCommand):
    help = "Make all ratings anew from the ledger, or check them bit for bit."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--check", action="store_true", help="change nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        complaints = 0
        for season in Season.objects.select_related("ladder").order_by("pk"):
            if not options["check"]:
                bots = rebuild.rebuild(season)
                self.stdout.write(f"{season}: {bots} ratings made anew")
                continue
            finding = rebuild.check(season)
            complaints += len(finding.complaints)
            for complaint in finding.complaints:
                self.stderr.write(f"{season}: {complaint}")
            if not finding.complaints:
                self.stdout.write(
                    f"{season}: {finding.entries} entries, all ratings the same"
                )
        if complaints:
            raise CommandError("What is stored is not what the ledger says.")
