"""The base of the commands of `manage.py`.

Django checks everything before each command, so it imports all pages, forms and routes.
That is half of the time of a short command. Here only those checks run that a command
depends on. `serve` and `check` run all of them.
"""

import os
import signal
import threading
from queue import SimpleQueue

from django.core.checks import Tags
from django.core.management.base import BaseCommand

from ladder.common import statement_limits

QUICK_CHECKS = (Tags.caches, Tags.database, Tags.files, Tags.models)

NICENESS = 10
"""The niceness of long computations: games and pages get the processor first."""


def be_nice() -> None:
    """Let this process run only while no other one needs the processor."""
    os.nice(max(0, NICENESS - os.nice(0)))


class ServiceCommand(BaseCommand):
    requires_system_checks = QUICK_CHECKS


class LongCommand(ServiceCommand):
    """A command whose statements may take longer than those of the service."""

    def execute(self, *args: object, **options: object) -> str | None:
        with statement_limits.lifted():
            return super().execute(*args, **options)


def stop_on_signals() -> threading.Event:
    """Return an event that SIGINT and SIGTERM set.

    A signal may interrupt the main thread while it holds the lock of the event, because
    it is about to wait. A handler that sets the event would then wait for this lock for
    ever. So the handler only puts into a queue, which signal handlers may do, and
    another thread sets the event.
    """
    stop = threading.Event()
    signals: SimpleQueue[int] = SimpleQueue()

    def pass_on() -> None:
        while True:
            signals.get()
            stop.set()

    threading.Thread(target=pass_on, name="signals", daemon=True).start()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _frame: signals.put(number))
    return stop
