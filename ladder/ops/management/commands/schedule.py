"""`manage.py schedule`: the dispatcher alone, for a service of many processes.

Start two on different hosts: one works, the other waits for its place.
"""

import signal
import threading
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import BaseCommand, CommandError

from ladder.celery import app
from ladder.dispatch.dispatcher import Dispatcher


class Command(BaseCommand):
    help = "Reap, fold, pair and send, until it is stopped."

    def handle(self, *args: Any, **options: Any) -> None:
        app.set_default()
        stop = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: stop.set())
        try:
            Dispatcher().run(stop)
        except ImproperlyConfigured as why:
            raise CommandError(str(why)) from why
