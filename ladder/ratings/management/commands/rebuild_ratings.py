"""`manage.py rebuild_ratings`: fold all ledgers from the first entry."""

import json
import sys
import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from ladder.common.commands import LongCommand
from ladder.ratings import rebuild, summaries
from ladder.ratings.ledger_writer import LedgerConflict
from ladder.ratings.models import Season


class Command(LongCommand):
    help = (
        "Build all ratings again from the ledger, or check them bit for bit. Both may"
        " run while the service runs."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--check",
            action="store_true",
            help="compare games, ledger and ratings, and change nothing; exit code 1 if"
            " they disagree",
        )
        parser.add_argument(
            "--from",
            dest="progress",
            type=Path,
            metavar="FILE",
            help="with --check: continue where an earlier check stopped, and write the"
            " progress to this file. What it has checked is not read again",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        progress = options["progress"]
        if progress and not options["check"]:
            raise CommandError("--from belongs to --check.")
        disagreeing = []
        for season in Season.objects.select_related("ladder").order_by("pk"):
            if options["check"]:
                if not self._check(season, progress):
                    disagreeing.append(season)
            else:
                self._rebuild(season)
        if disagreeing:
            raise CommandError(
                "Games, ledger and ratings do not agree. If only ratings are wrong, run"
                " rebuild_ratings without --check to build them again from the ledger."
            )

    def _rebuild(self, season: Season) -> None:
        try:
            bots = rebuild.rebuild(season)
        except LedgerConflict as conflict:
            raise CommandError(str(conflict)) from conflict
        summaries.rebuild(season.pk)
        self.stdout.write(f"{season}: {bots} ratings built again")

    def _check(self, season: Season, progress: Path | None) -> bool:
        """Check a season and print the result; return whether all is well."""
        started = time.monotonic()

        def show(done: int, entries: int) -> None:
            rate = done / (time.monotonic() - started)
            self.stderr.write(f"{season}: {done:,} of {entries:,} ({rate:,.0f}/s)")
            sys.stderr.flush()

        try:
            report = rebuild.check(season, progress_file=progress, report_progress=show)
        except (OSError, json.JSONDecodeError, KeyError, TypeError) as error:
            if progress is None:
                raise
            raise CommandError(
                f"The progress in {progress} cannot be used: {error}. Name another"
                " file, or delete this one to start from the first entry."
            ) from error
        for complaint in report.complaints:
            self.stderr.write(f"{season}: {complaint}")
        if not report.complaints:
            self.stdout.write(
                f"{season}: {report.entries} entries, all ratings the same, every"
                " finished game rated once"
            )
        if report.unverified:
            self.stdout.write(
                f"{season}: of {report.unverified} corrections after voids only the"
                " sum was checked"
            )
        return not report.complaints
