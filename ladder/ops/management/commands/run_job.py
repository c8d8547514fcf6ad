"""`manage.py run_job NAME`: do the work of a job, and end."""

from argparse import ArgumentParser
from typing import Any

from ladder.common.commands import LongCommand
from ladder.dispatch.jobs import JOBS


class Command(LongCommand):
    help = (
        "Do the work of a job, and end. The dispatcher starts this by"
        " itself. It may be stopped at any moment, and run again."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", choices=[job.name for job in JOBS])

    def handle(self, *args: Any, name: str, **options: Any) -> None:
        for job in JOBS:
            if job.name == name:
                job.run()
