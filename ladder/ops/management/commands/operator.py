"""`manage.py operator`: moderate bots, games, seasons and accounts.

Each action writes an entry into the audit log, with the reason given by `--why`.
"""

from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import CommandError

from ladder.common.commands import ServiceCommand
from ladder.common.storable import storable
from ladder.moderation.audit import Operator
from ladder.moderation.models import AuditEntry
from ladder.ratings import operations
from ladder.ratings.actions import ACTIONS, ActionRequest, newest_season, perform
from torres.common.errors import LadderError

Kind = AuditEntry.Kind


class Command(ServiceCommand):
    help = (
        "Moderate bots (by slug), games (by number), ladders (by slug), workers and"
        " accounts (by name). `log` prints the latest 50 entries of the audit log."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "kind",
            choices=[*ACTIONS, "misjudged", "log"],
            help="the action; misjudged lists games that the present engine judges"
            " differently",
        )
        parser.add_argument(
            "target", nargs="?", default="", help="a slug, a number or a user name"
        )
        parser.add_argument("--why", default="", help="the reason, for the audit log")
        parser.add_argument("--by", default="", help="user name of the operator")
        parser.add_argument(
            "--into", default="", help="merge: slug of the bot that stays"
        )
        parser.add_argument(
            "--ladder", default="", help="join and leave: slug of the bot's ladder"
        )
        parser.add_argument("--prizes", type=int, help="finals: number of prizes")
        parser.add_argument(
            "--engine", default="", help="misjudged: only games of this engine"
        )
        parser.add_argument(
            "--void",
            action="store_true",
            help="misjudged: void and replay these games",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        # An argument that is no UTF-8 must find nothing, not fail in the database.
        options = {
            name: storable(value) if isinstance(value, str) else value
            for name, value in options.items()
        }
        kind, target = options["kind"], options["target"]
        if kind == "log":
            for action in AuditEntry.objects.select_related("by")[:50]:
                actor = action.by or "the service"
                when = f"{action.at:%F %T}"
                self.stdout.write(f"{when} {action} by {actor}: {action.why}")
            return
        if not options["why"] and kind != "misjudged":
            raise CommandError("Give the reason with --why, for the audit log.")
        by = _operator(options["by"])
        operator = Operator(
            by, options["why"] or "the present engine gives another result"
        )
        try:
            if kind == "misjudged":
                self._misjudged(operator, options)
            else:
                wanted = ActionRequest(
                    Kind(kind),
                    target,
                    into=options["into"],
                    ladder=options["ladder"],
                    prizes=options["prizes"],
                )
                self.stdout.write(str(perform(operator, wanted)))
        except LadderError as refusal:
            raise CommandError(str(refusal)) from refusal

    def _misjudged(self, operator: Operator, options: dict[str, Any]) -> None:
        season = newest_season(options["target"])
        for game, fault in operations.misjudged(season, options["engine"]):
            self.stdout.write(f"game {game}: {fault}")
            if options["void"]:
                operations.void(operator, game)


def _operator(name: str) -> User | None:
    if not name:
        return None
    if user := User.objects.filter(username=name).first():
        return user
    raise CommandError(f"There is no user with username {name!r}.")
