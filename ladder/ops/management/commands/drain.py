"""`manage.py drain WORKER`: a worker takes no more games, until `--undo`."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ladder.games.models import Worker
from ladder.games.worker import registry
from ladder.ops.console import say


class Command(BaseCommand):
    help = "Let a worker end its games and take no more; it stays so when restarted."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("worker", help="its name as in status, or its beginning")
        parser.add_argument("--why", default="by hand")
        parser.add_argument("--undo", action="store_true", help="let it play again")

    def handle(self, *args: Any, **options: Any) -> None:
        name = options["worker"]
        rows = Worker.objects.filter(name__startswith=name)
        if not options["undo"]:
            rows = rows.filter(gone_at__isnull=True)
        found = list(rows)
        if not found:
            raise CommandError(f"No worker's name begins with {name!r}. See status.")
        for worker in found:
            if options["undo"]:
                registry.undrain(worker.pk)
            else:
                registry.drain(worker.pk, options["why"])
        done = "take games again" if options["undo"] else "are drained"
        say(f"{len(found)} processes {done}: {name}")
