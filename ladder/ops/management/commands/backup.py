"""`manage.py backup FOLDER`: write the database and the uploads into a new folder."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from ladder.common.commands import LongCommand
from ladder.ops import backup
from ladder.ops.console import say


class Command(LongCommand):
    help = "Back up the database and the uploads. The service may run meanwhile."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, help="a folder that does not exist")

    def handle(self, *args: Any, **options: Any) -> None:
        folder: Path = options["folder"]
        try:
            if folder.exists():
                raise CommandError(f"{folder} already exists. Name a new folder.")
            uploads = backup.save(folder)
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            raise CommandError(
                f"{str(folder)[:80]!a} cannot be written: {why}. Name a folder on a"
                " disk with enough space."
            ) from error
        say(f"{folder}: saved the database and {uploads} uploads")
