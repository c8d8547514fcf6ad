"""`manage.py token NAME`: create a user if needed, and print a new token."""

from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser

from ladder.accounts import tokens


class Command(BaseCommand):
    help = "Print a new API token for the user NAME, who is created if needed."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="the name of the user")

    def handle(self, *_args: Any, **options: Any) -> None:
        name = options["name"]
        try:
            User.username_validator(name)
        except ValueError as error:
            raise CommandError(f"{name!r} is not a user name: {error}") from error
        self.stdout.write(tokens.token_for(name))
