"""`manage.py drain WORKER`: stop a worker from taking games, until `--undo`."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ladder.games.models import Worker
from ladder.games.worker import registry
from ladder.ops.console import say


class Command(BaseCommand):
    help = (
        "Let a worker finish its games and take no more."
        " The worker stays drained when it is restarted."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "worker", help="the worker's name as in status, or the start of it"
        )
        parser.add_argument(
            "--why", default="by hand", help="the reason that status shows"
        )
        parser.add_argument(
            "--undo", action="store_true", help="let the worker take games again"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        name = options["worker"]
        rows = Worker.objects.filter(name__startswith=name)
        if not options["undo"]:
            rows = rows.filter(gone_at__isnull=True)
        workers = list(rows)
        if not workers:
            raise CommandError(
                f"No worker's name starts with {name!r}. manage.py status lists them."
            )
        for worker in workers:
            if options["undo"]:
                registry.undrain(worker.pk)
            else:
                registry.drain(worker.pk, options["why"])
        change = "take games again" if options["undo"] else "are drained"
        say(f"{len(workers)} worker processes {change}: {name}")
