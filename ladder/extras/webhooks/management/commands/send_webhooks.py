"""`manage.py send_webhooks`: send events to webhooks until there is nothing to send."""

import signal
import threading
from argparse import ArgumentParser
from typing import Any

from ladder.common.commands import ServiceCommand
from ladder.extras.webhooks.sender import IDLE_S, Sender


class Command(ServiceCommand):
    help = (
        "Send events to webhooks until there is nothing left to send for a while. The"
        " dispatcher starts this by itself. It may be stopped at any moment."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--idle",
            type=float,
            default=IDLE_S,
            metavar="SECONDS",
            help="end after this time without work (default: %(default)s)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        stop = threading.Event()
        signal.signal(signal.SIGTERM, lambda *_: stop.set())
        sender = Sender()
        try:
            sender.run(stop, options["idle"])
        finally:
            sender.close()
