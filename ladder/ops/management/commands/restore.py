"""`manage.py restore FOLDER`: replace the database by a backup."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError

from ladder.common.commands import LongCommand
from ladder.games import selectors
from ladder.ops import backup, worker_role
from ladder.ops.console import say
from ladder.public_log import sequencer
from ladder.ratings import rater
from ladder.ratings.models import Season
from torres.common.errors import LadderError
from torres.common.locks import locked


class Command(LongCommand):
    help = "Restore a backup, list what is missing, and check the ratings."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, help="a folder written by backup")

    def handle(self, *args: Any, **options: Any) -> None:
        folder: Path = options["folder"]
        try:
            with locked(settings.DATA_DIR / "up.lock") as acquired:
                if not acquired:
                    raise CommandError("The service is running. Stop it, then restore.")
                report = backup.restore(folder)
        except LadderError as refusal:
            raise CommandError(str(refusal)) from refusal
        call_command("migrate", verbosity=0)
        if worker_role.exists():
            worker_role.grant()  # a backup holds no rights of roles
        sequencer.mark_restored()
        for submission in report.lost_submissions:
            say(
                f"missing: the files of {submission}; it is retired until it is"
                " uploaded again"
            )
        say(f"{report.games_released} games that were running will be played again")
        if missing := selectors.tally().missing:
            raise CommandError(
                f"The totals do not add up: {missing} games are missing. Restore an"
                " older backup, or run manage.py audit."
            )
        # A busy service had finished games that its rater had not read yet.
        for season in Season.objects.exclude(status=Season.Status.ARCHIVED):
            while rater.fold(season.pk):
                pass
        call_command("rebuild_ratings", check=True)
