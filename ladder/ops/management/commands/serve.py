"""`manage.py serve`: the web server, by itself or as the child of `manage.py up`."""

import os
import signal
import socket
import sys
import threading
from argparse import ArgumentParser
from contextlib import suppress
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ladder.celery import app
from ladder.common import tracing
from ladder.web.server import server

MAX_PORT = 65_535
# After this time the process ends in any case when its parent has ended.
STOP_TIMEOUT_S = 10


class Command(BaseCommand):
    help = "Serve pages and the REST API until SIGTERM or Ctrl-C."

    def add_arguments(self, parser: ArgumentParser) -> None:
        where = parser.add_mutually_exclusive_group()
        where.add_argument(
            "--listen",
            default="127.0.0.1:8000",
            metavar="HOST:PORT",
            help="the address to listen on; default: %(default)s",
        )
        where.add_argument(
            "--inherited",
            type=int,
            metavar="FD",
            help="serve on this listening socket until stdin is closed; manage.py up"
            " uses this option",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit())
        if options["inherited"] is None:
            listener = _listen(options["listen"])
        else:
            listener = _inherit(options["inherited"])
            threading.Thread(target=_end_with_parent, daemon=True).start()
        app.set_default()  # hints for uploads go to the broker of the service
        with suppress(KeyboardInterrupt, SystemExit):
            server.WebServer().run_on(listener)
        tracing.close()
        # To tear the interpreter down takes half a second of CPU time.
        os._exit(0)


def _listen(address: str) -> socket.socket:
    host, _, port = address.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not (host and port.isascii() and port.isdigit() and int(port[:6]) <= MAX_PORT):
        raise CommandError(
            f"{address[:80]!r} is not an address. Use HOST:PORT, for example"
            " 127.0.0.1:8000 or [::1]:8000."
        )
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server(
            (host, int(port)), family=family, backlog=server.BACKLOG
        )
    except (OSError, ValueError) as error:
        raise CommandError(
            f"{address[:80]} cannot be opened: {error}. Choose another address with"
            " --listen."
        ) from error


def _inherit(descriptor: int) -> socket.socket:
    try:
        return socket.socket(fileno=descriptor)
    except (OSError, ValueError, OverflowError) as error:
        raise CommandError(
            f"{descriptor} is not a socket: {error}. Use --listen HOST:PORT."
        ) from error


def _end_with_parent() -> None:
    """End this process at the end of stdin.

    The kernel closes the other end of the pipe when the parent ends, even if the
    parent is killed.
    """
    sys.stdin.buffer.read()
    os.kill(os.getpid(), signal.SIGTERM)
    threading.main_thread().join(STOP_TIMEOUT_S)
    os._exit(0)
