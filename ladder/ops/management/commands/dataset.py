"""`manage.py dataset`: write the dataset of today, with all that is public."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django.utils import timezone

from ladder.common.commands import LongCommand, be_nice
from ladder.ops.console import say


class Command(LongCommand):
    help = (
        "Write all public games, moves, ratings and submissions as files of a dataset."
        " The dispatcher starts this once a day if TORRES_DATASETS is set. It may be"
        " killed at any moment; the next run goes on where it was."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "folder", type=Path, nargs="?", help="by default TORRES_DATASETS"
        )

    def handle(self, *args: Any, folder: Path | None, **options: Any) -> None:
        root = folder or settings.TORRES_DATASETS
        if not root:
            raise CommandError("Name a folder, or set TORRES_DATASETS.")
        try:
            from ladder.extras.datasets.export import write_dataset  # noqa: PLC0415
        except ModuleNotFoundError as error:
            raise CommandError(
                f"{error.name} is not installed. Install the extra dataset:"
                " pip install 'torres-ladder[dataset]'"
            ) from error
        be_nice()
        say(f"{write_dataset(Path(root), timezone.now().date().isoformat())}: complete")
