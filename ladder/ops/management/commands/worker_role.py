"""`manage.py worker_role`: what workers may do, and the names of their hosts."""

import secrets
from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.management.base import CommandError
from django.db import connection

from ladder.common.commands import LongCommand
from ladder.ops import worker_role
from ladder.ops.console import say
from ladder.ops.worker_access import (
    BROKER_ACCESS,
    WORKER_ACCESS,
    Access,
    broker_rules,
)

PASSWORD_BYTES = 24


class Command(LongCommand):
    help = (
        "Make a role of PostgreSQL for a host of workers, and print its environment and"
        " its user of Redis. It may do only what a worker needs."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "name",
            nargs="?",
            help="the role to make; of one that exists the password is replaced",
        )
        choice = parser.add_mutually_exclusive_group()
        choice.add_argument(
            "--check",
            action="store_true",
            help="change nothing; exit code 1 if the database permits workers more or"
            " less than is declared",
        )
        choice.add_argument(
            "--list",
            action="store_true",
            help="print each table, column, queue and bucket with what workers may do,"
            " as Markdown; the database is not used",
        )
        choice.add_argument(
            "--lock-out",
            action="store_true",
            help="let the role sign in no more, and end its sessions",
        )

    def handle(self, *args: Any, name: str | None = None, **options: Any) -> None:
        if options["list"]:
            for line in _listed():
                say(line)
        elif options["check"]:
            _check()
        elif name is None:
            raise CommandError(
                "Name the role of a host of workers, such as worker_one, or give"
                " --check or --list."
            )
        elif options["lock_out"]:
            ended = worker_role.lock_out(name)
            say(f"{name} cannot sign in any more; {ended} of its sessions were ended.")
            say(f"Run this in Redis, too: ACL DELUSER {name}")
        else:
            _let_in(name)


def _let_in(name: str) -> None:
    password = secrets.token_hex(PASSWORD_BYTES)
    worker_role.grant()
    worker_role.let_in(name, password)
    server = connection.settings_dict
    address = f"{server['HOST'] or 'localhost'}:{server['PORT'] or 5432}"
    say("# The environment of this host. It has neither SECRET_KEY nor other secrets.")
    say("TORRES_WORKER=1")
    say(f"DATABASE_URL=postgres://{name}:{password}@{address}/{server['NAME']}")
    broker = urlsplit(settings.CELERY_BROKER_URL)
    if broker.scheme == "memory":
        return
    number = broker.path.strip("/") or "0"
    host = broker.netloc.rpartition("@")[2]
    say(f"BROKER_URL={broker.scheme}://{name}:{password}@{host}/{number}")
    say("# Its user of Redis. Run this there, then ACL SAVE:")
    rules = " ".join(["on", f">{password}", *broker_rules(int(number))])
    say(f"ACL SETUSER {name} reset {rules}")


def _check() -> None:
    found = worker_role.differences()
    if found:
        raise CommandError(
            "\n".join(
                [*found, "Run manage.py worker_role NAME to grant what is right."]
            )
        )
    names = ", ".join(worker_role.members()) or "nobody"
    say(
        "Workers may do what is declared, and nothing else. These sign in as workers:"
        f" {names}"
    )


def _listed() -> Iterator[str]:
    """Yield the lines of a table in Markdown of all that workers may do."""
    yield "| table | reads | adds, changes, deletes | what a lost host can do |"
    yield "|---|---|---|---|"
    for access in WORKER_ACCESS:
        reads = ", ".join(access.reads) or "nothing"
        reads = "every column" if reads == "*" else reads
        yield f"| `{access.table}` | {reads} | {_writes(access)} | {access.harm} |"
    yield "| every other table | nothing | nothing | nothing |"
    for broker in BROKER_ACCESS:
        keys = ", ".join(f"`{key}`" for key in broker.keys)
        yield f"| Redis: {keys} | yes | yes | {broker.harm} |"
    yield "| Redis: every other key and channel | nothing | nothing | nothing |"
    yield (
        "| uploads: folder or bucket | every package | nothing | It reads the packages"
        " of all bots. |"
    )


def _writes(access: Access) -> str:
    parts = [
        *([f"adds {', '.join(access.adds)}"] if access.adds else []),
        *([f"changes {', '.join(access.changes)}"] if access.changes else []),
        *(["deletes"] if access.deletes else []),
    ]
    return "; ".join(parts) or "nothing"
