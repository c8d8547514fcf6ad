"""`manage.py log_key`: the key of the public log on this host."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from ladder.common.commands import ServiceCommand
from ladder.ops.console import say
from ladder.public_log import keys, sequencer
from ladder.public_log.keys import LogKeyRefused
from torres.common.write_once import write_once
from torres.tlog.notes import BadKey, SigningKey


class Command(ServiceCommand):
    help = (
        "Check whether this host has the key of the public log, and print its public"
        " key. Only hosts with a dispatcher need the key."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        choice = parser.add_mutually_exclusive_group()
        choice.add_argument(
            "--make",
            type=Path,
            metavar="FILE",
            help="write a new key for a service that has no log yet, named by"
            " TORRES_LOG_ORIGIN or ALLOWED_HOSTS; the database is not used",
        )
        choice.add_argument(
            "--lost",
            action="store_true",
            help="the key is lost for ever: let the log continue under another name,"
            " with a new key that the dispatcher makes",
        )

    def handle(
        self, *args: Any, make: Path | None = None, lost: bool = False, **options: Any
    ) -> None:
        if make is not None:
            say(_make(make))
        elif lost:
            _give_up()
        else:
            try:
                key = keys.find_key()
            except LogKeyRefused as refused:
                raise CommandError(str(refused)) from refused
            say(_shown(key.signing) if key else "There is neither a log nor a key yet.")


def _make(file: Path) -> str:
    """Write a new key; return its public key."""
    if file.exists():
        raise CommandError(f"The file {file} exists. Name a new one.")
    try:
        return _shown(SigningKey.parse(write_once(file, keys.new_key)))
    except (OSError, BadKey) as error:
        raise CommandError(
            f"No key can be written to {file}: {error} Name a file in a folder that"
            " you may write, and set TORRES_LOG_ORIGIN to the name of the log."
        ) from error


def _shown(key: SigningKey) -> str:
    return str(key.verifier)


def _give_up() -> None:
    try:
        keys.find_key()
    except LogKeyRefused:
        sequencer.give_up_key()
        say("The log continues under another name when a dispatcher leads.")
        return
    raise CommandError(
        "The key on this host fits the log, so it is not lost. Without --lost this"
        " command shows it."
    )
