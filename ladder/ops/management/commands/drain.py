"""`manage.py drain WORKER`: stop a worker from taking games, until `--undo`."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db.models import Q, QuerySet

from ladder.common.storable import storable
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
            "worker",
            help="the worker's name as in status; or HOST/ for all workers of a host,"
            " with a slash at the end",
        )
        parser.add_argument(
            "--why", default="by hand", help="the reason that status shows"
        )
        parser.add_argument(
            "--undo", action="store_true", help="let the worker take games again"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        name = storable(options["worker"])
        rows = _matching(name)
        if options["undo"]:
            workers = list(rows.filter(drained=True))
        else:
            workers = list(rows.filter(gone_at__isnull=True))
        if not workers:
            raise CommandError(
                f"There is no {'drained' if options['undo'] else 'running'} worker"
                f" {name!r}. Give a whole name as manage.py status shows it, or HOST/"
                " for all workers of a host."
            )
        for worker in workers:
            if options["undo"]:
                registry.undrain(worker.pk)
            else:
                registry.drain(worker.pk, storable(options["why"]))
            change = "takes games again" if options["undo"] else "is drained"
            say(f"{worker.name} {change}")


def _matching(name: str) -> QuerySet[Worker]:
    """Return the workers of a host ("host/"), of an installation, or with this name."""
    if name.endswith("/") and ":" not in name:
        return Worker.objects.filter(host=name.removesuffix("/"))
    return Worker.objects.filter(
        Q(name=name) | Q(name__startswith=f"{name.removesuffix('#')}#")
    )
