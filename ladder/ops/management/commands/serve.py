"""`manage.py serve`: the web server of `manage.py up`, which starts it."""

import logging
import os
import socket
import sys
import threading
from argparse import ArgumentParser
from typing import Any

import waitress
from django.core.management.base import BaseCommand
from django.core.wsgi import get_wsgi_application

CONNECTIONS = 1000
THREADS = 8


class Command(BaseCommand):
    help = "Serve pages and REST on a socket that is open, while stdin is."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("socket", type=int, help="its descriptor")

    def handle(self, *args: Any, **options: Any) -> None:
        threading.Thread(target=_end_with_parent, daemon=True).start()
        # It would say each request that waits for another.
        logging.getLogger("waitress.queue").setLevel(logging.ERROR)
        server: Any = waitress.create_server(
            get_wsgi_application(),
            sockets=[socket.socket(fileno=options["socket"])],
            threads=THREADS,
            # A reader keeps its connection for minutes: by default the 101st waits.
            connection_limit=CONNECTIONS,
            asyncore_use_poll=True,
        )
        server.run()


def _end_with_parent() -> None:
    """Wait for the end of stdin: however the parent ends, the kernel closes it."""
    sys.stdin.buffer.read()
    os._exit(0)
