"""`manage.py await_migrations`: start a program when the database is up to date.

It is the entry point of containers: not every engine that reads a compose file waits
until the container that prepares the database has ended.
"""

import argparse
import os
import threading
import time
from argparse import ArgumentParser
from typing import Any

import structlog
from django.core.management.base import CommandError
from django.db import Error, connection
from django.db.migrations.executor import MigrationExecutor

from ladder.common.commands import ServiceCommand

INTERVAL_S = 1.0
REMINDER_S = 30.0

log = structlog.get_logger()


class Command(ServiceCommand):
    help = (
        "Wait until the database answers and `manage.py prepare` of this version has"
        " migrated it. Then become the program with these arguments."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "program",
            nargs=argparse.REMAINDER,
            help="the program and its arguments; without it this command just ends",
        )

    def handle(self, *args: Any, program: list[str], **options: Any) -> None:
        _wait()
        connection.close()
        if not program:
            return
        try:
            os.execvp(program[0], program)  # noqa: S606 -- the operator names it
        except OSError as error:
            raise CommandError(
                f"{program[0][:80]!r} cannot be started: {error.strerror}. Write a"
                " program and its arguments, for example: manage.py await_migrations"
                " python manage.py serve"
            ) from error


def _wait() -> None:
    pause = threading.Event()
    reminder_at = time.monotonic()
    while problem := _problem():
        if time.monotonic() >= reminder_at:
            reminder_at = time.monotonic() + REMINDER_S
            log.warning("waiting for the database", problem=problem)
        pause.wait(INTERVAL_S)


def _problem() -> str:
    """Return why the service cannot start yet; "" if it can."""
    try:
        executor = MigrationExecutor(connection)
        plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    except Error as error:
        connection.close()
        first_line = str(error).strip().partition("\n")[0]
        return f"{first_line}. Check DATABASE_URL, and that the server runs."
    if not plan:
        return ""
    return f"{len(plan)} migrations are missing. Run manage.py prepare of this version."
