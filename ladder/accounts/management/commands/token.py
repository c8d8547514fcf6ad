"""`manage.py token NAME`: create a user if needed, and print a new token."""

from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser

from ladder.accounts import tokens
from ladder.common.errors import LadderError
from ladder.common.scripts import mixes_scripts

MAX_LENGTH = 150  # that of Django


class Command(BaseCommand):
    help = "Print a new API token for the user NAME, who is created if needed."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="the name of the user")

    def handle(self, *_args: Any, **options: Any) -> None:
        name = options["name"]
        try:
            User.username_validator(name)
        except ValidationError as error:
            raise CommandError(
                f"{name[:80]!r} is not a user name. Use at most {MAX_LENGTH} letters,"
                " digits and the characters @ . + - _"
            ) from error
        if mixes_scripts(name):
            raise CommandError(
                f"{name[:80]!r} mixes letters of different scripts, so it may imitate"
                " another name. Choose another one."
            )
        if len(name) > MAX_LENGTH:
            raise CommandError(f"A user name has at most {MAX_LENGTH} characters.")
        try:
            self.stdout.write(tokens.token_for(name))
        except LadderError as refusal:
            raise CommandError(str(refusal)) from refusal
