"""`manage.py schedule`: run only the dispatcher, for a service of many processes.

Start it on two hosts: the database lets one of them work, the other one is its standby.
"""

from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import CommandError

from ladder.celery import app
from ladder.common.commands import ServiceCommand, stop_on_signals
from ladder.common.watchdog import Watchdog
from ladder.dispatch.dispatcher import Dispatcher


class Command(ServiceCommand):
    help = (
        "Make matches, send games to workers, take games back from dead workers and"
        " rate finished games, until it is stopped. A second one is a standby."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        app.set_default()
        try:
            with Watchdog() as watchdog:
                Dispatcher(watchdog.pet).run(stop_on_signals())
        except ImproperlyConfigured as error:
            raise CommandError(str(error)) from error
