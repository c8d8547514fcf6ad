"""`manage.py drain WORKER`: stop a worker from taking games, until `--undo`."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from ladder.common.commands import ServiceCommand
from ladder.common.storable import storable
from ladder.moderation import workers
from ladder.moderation.audit import Operator
from ladder.ops.console import say
from torres.common.errors import LadderError


class Command(ServiceCommand):
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
        operator = Operator(None, storable(options["why"]))
        act = workers.undrain if options["undo"] else workers.drain
        try:
            entry = act(operator, storable(options["worker"]))
        except LadderError as refusal:
            raise CommandError(str(refusal)) from refusal
        change = "takes games again" if options["undo"] else "is drained"
        for name in entry.details["workers"]:
            say(f"{name} {change}")
