"""`manage.py practice`: play games by hand, for a service of many processes."""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from ladder.common.arguments import whole_number
from ladder.common.commands import ServiceCommand, stop_on_signals
from ladder.common.watchdog import Watchdog
from ladder.extras.editor import work as editor
from ladder.extras.practice.host import PracticeHost

MAX_SLOTS = 256


class Command(ServiceCommand):
    help = (
        "Play the games of people against bots until it is stopped. The next one goes"
        " on with games that have not ended. Several hosts may run at once."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--slots",
            type=whole_number(1, MAX_SLOTS),
            help="games played at the same time; default: TORRES_PRACTICE_SLOTS",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        slots = options["slots"] or settings.TORRES_PRACTICE_SLOTS
        if not slots:
            raise CommandError(
                "TORRES_PRACTICE_SLOTS=0 switches games by hand off. Set another number"
                " for all processes."
            )
        with Watchdog() as watchdog:
            host = PracticeHost(
                slots,
                goes_on=watchdog.pet,
                begin_trial=editor.source(),
                waits=editor.waits,
            )
            host.run(stop_on_signals())
