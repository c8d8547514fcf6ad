"""`manage.py token NAME`: make a user if needed, and print a new token."""

from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser

from ladder.accounts import tokens


class Command(BaseCommand):
    help = "Make a user NAME if there is none, and print a new token for the API."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="the user's name")

    def handle(self, *_args: Any, **options: Any) -> None:
        name = options["name"]
        try:
            User.username_validator(name)
        except ValueError as bad:
            raise CommandError(f"{name!r} is no user name: {bad}") from bad
        self.stdout.write(tokens.token_for(name))
