"""`manage.py backup FOLDER`: database and uploads into a new folder."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ladder.ops import backup
from ladder.ops.console import say


class Command(BaseCommand):
    help = "Write a backup of database and uploads; the service may run meanwhile."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, help="a new folder")

    def handle(self, *args: Any, **options: Any) -> None:
        folder: Path = options["folder"]
        if folder.exists():
            raise CommandError(f"{folder} is already there. Name a new folder.")
        uploads = backup.save(folder)
        say(f"{folder}: the database and {uploads} uploads")
