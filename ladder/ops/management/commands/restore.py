"""`manage.py restore FOLDER`: puts a backup in place of everything."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from ladder.common.locks import locked
from ladder.games import selectors
from ladder.ops import backup
from ladder.ops.console import say


class Command(BaseCommand):
    help = "Restore a backup, say what is missing, and check the ledger."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path)

    def handle(self, *args: Any, **options: Any) -> None:
        folder: Path = options["folder"]
        if not folder.is_dir():
            raise CommandError(f"{folder} is no folder. Name one that backup made.")
        with locked(settings.DATA_DIR / "up.lock") as mine:
            if not mine:
                raise CommandError("The service runs. Stop it, then restore.")
            missing = backup.bring_back(folder)
        call_command("migrate", verbosity=0)
        for package in missing.packages:
            say(f"missing: the files of {package}; it is retired until uploaded again")
        say(f"{missing.games_given_back} running games are played again")
        if not selectors.tally().adds_up:
            raise CommandError("The sum of games does not come out.")
        call_command("rebuild_ratings", check=True)
