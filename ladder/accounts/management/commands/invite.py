"""`manage.py invite`: create an invitation to sign up, or list the valid ones."""

from typing import Any

from django.core.management.base import CommandParser

from ladder.accounts import invitations
from ladder.accounts.models import MAX_NOTE_LENGTH
from ladder.common.arguments import whole_number
from ladder.common.commands import ServiceCommand
from ladder.common.storable import storable

MAX_LISTED = 50


class Command(ServiceCommand):
    help = (
        "Print the code of a new invitation, with which people sign up while"
        " TORRES_SIGN_UP is 'invitation'. The code is shown only once."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--uses",
            type=whole_number(1, invitations.MAX_USES),
            default=1,
            help="the number of people who may use it; default: %(default)s",
        )
        parser.add_argument(
            "--days",
            type=whole_number(1, invitations.MAX_DAYS),
            default=invitations.DEFAULT_DAYS,
            help="the days until it expires; default: %(default)s",
        )
        parser.add_argument(
            "--note",
            default="",
            help=f"what it is for, in up to {MAX_NOTE_LENGTH} characters",
        )
        parser.add_argument(
            "--list",
            action="store_true",
            help=f"show the latest {MAX_LISTED} valid invitations and create none",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["list"]:
            self._list()
            return
        code, _ = invitations.new_invitation(
            None,
            uses=options["uses"],
            days=options["days"],
            note=storable(options["note"]),
        )
        self.stdout.write(code)

    def _list(self) -> None:
        rows = invitations.valid_invitations().select_related("created_by")
        for row in rows[:MAX_LISTED]:
            by = row.created_by or "the console"
            self.stdout.write(
                f"{row} used {row.used} of {row.max_uses}, until {row.expires_at:%F},"
                f" by {by} {row.note}".rstrip()
            )
