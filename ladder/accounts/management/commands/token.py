"""`manage.py token NAME`: create a user if needed, and print a new token."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from ladder.accounts import scopes, tokens
from ladder.accounts.user_names import clean_user_name
from ladder.common.commands import ServiceCommand
from torres.common.errors import LadderError


class Command(ServiceCommand):
    help = "Print a new API token for the user NAME, who is created if needed."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="the name of the user")
        parser.add_argument(
            "--scope",
            action="append",
            choices=scopes.names(scopes.ALL),
            dest="scopes",
            help="what the token permits; repeat it for several scopes. The default is"
            f" {' and '.join(scopes.names(scopes.DEFAULT))}",
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        try:
            name = clean_user_name(options["name"])
            chosen = options["scopes"]
            permitted = scopes.parse(chosen) if chosen else scopes.DEFAULT
            self.stdout.write(tokens.token_for(name, scopes=permitted))
        except LadderError as refusal:
            raise CommandError(str(refusal)) from refusal
