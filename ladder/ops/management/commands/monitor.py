"""`manage.py monitor`: look at the parts of the service, and send alarms."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from ladder.common.commands import ServiceCommand, stop_on_signals
from ladder.common.watchdog import Watchdog
from ladder.health.monitor import Monitor, web_addresses
from ladder.ops.console import say


class Command(ServiceCommand):
    help = (
        "Look every few seconds whether each part of the service does its work, and"
        " send an alarm when one stops, and another when it works again. Run it on a"
        " host of its own if you can. `manage.py up` does this by itself."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--once",
            action="store_true",
            help="look once, print every part, and exit with 1 if one has a problem;"
            " no alarm is sent",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["once"]:
            monitor = Monitor(web_addresses())
            seen = monitor.look()
            for sign in seen:
                say(f"{sign.part:<16}{sign.problem or 'ok'} {sign.advice}".rstrip())
            if bad := [sign.part for sign in seen if not sign.is_good]:
                raise CommandError(f"There are problems: {', '.join(bad)}.")
            return
        with Watchdog() as watchdog:
            Monitor(web_addresses(), watchdog.pet).run(stop_on_signals())
