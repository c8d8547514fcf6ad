"""`manage.py stream`: the child process of `manage.py serve` that serves streams."""

import os
import signal
import socket
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from ladder.common.commands import ServiceCommand
from ladder.web.server.streams import process

NICENESS = 10
"""A watcher does not notice if a message comes a little later, but a game of a worker
on the same host takes longer if it has to wait for a processor."""


class Command(ServiceCommand):
    help = (
        "Serve streams of events and running games. `manage.py serve` starts it when"
        " the first stream is requested, and passes connections on to it."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--inherited",
            type=int,
            required=True,
            metavar="FD",
            help="the Unix socket on which the web server passes connections on",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            inbox = socket.socket(fileno=options["inherited"])
        except (OSError, ValueError, OverflowError) as error:
            raise CommandError(
                f"This is not a socket: {error}. Start `manage.py serve` instead."
            ) from error
        # The web server ends this process by closing the socket.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        os.nice(NICENESS)
        process.serve(inbox)
