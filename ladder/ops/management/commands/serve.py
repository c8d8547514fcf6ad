"""`manage.py serve`: the web server that `manage.py up` starts as its child."""

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

# A browser keeps its connection open for minutes. With waitress's default of 100 the
# 101st reader would have to wait.
MAX_CONNECTIONS = 1000
THREADS = 8


class Command(BaseCommand):
    help = (
        "Serve pages and the REST API on an inherited socket until stdin is closed."
        " manage.py up runs this command; there is no need to run it by hand."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "socket", type=int, help="the file descriptor of a listening socket"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        threading.Thread(target=_end_with_parent, daemon=True).start()
        # This logger warns of each request that waits for a thread.
        logging.getLogger("waitress.queue").setLevel(logging.ERROR)
        server: Any = waitress.create_server(
            get_wsgi_application(),
            sockets=[socket.socket(fileno=options["socket"])],
            threads=THREADS,
            connection_limit=MAX_CONNECTIONS,
            asyncore_use_poll=True,
        )
        server.run()


def _end_with_parent() -> None:
    """End this process at the end of stdin.

    The kernel closes the other end of the pipe when the parent ends, even if the
    parent is killed.
    """
    sys.stdin.buffer.read()
    os._exit(0)
