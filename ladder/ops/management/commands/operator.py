"""`manage.py operator`: moderate bots, games, seasons and accounts.

Each action writes an entry into the audit log, with the reason given by `--why`.
"""

from argparse import ArgumentParser
from typing import Any, TypeVar

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError
from django.db.models import Model

from ladder.bots.models import Bot
from ladder.common.errors import LadderError
from ladder.common.storable import storable
from ladder.moderation import bots
from ladder.moderation.audit import Operator
from ladder.moderation.models import AuditEntry
from ladder.ratings import memberships, operations
from ladder.ratings.models import Ladder, Season

MAX_ID_DIGITS = 18  # all such numbers fit into a BIGINT
M = TypeVar("M", bound=Model)
Kind = AuditEntry.Kind
BOT_KINDS = (Kind.BENCH, Kind.BAN, Kind.WITHDRAW)
SEASON_KINDS = (Kind.FREEZE, Kind.REOPEN, Kind.FINALS, Kind.ARCHIVE)
LADDER_ACTIONS = {Kind.JOIN: memberships.admit, Kind.LEAVE: memberships.remove}
KINDS = (
    *BOT_KINDS,
    *SEASON_KINDS,
    Kind.REINSTATE,
    Kind.VOID,
    Kind.RERUN,
    Kind.START,
    *LADDER_ACTIONS,
    Kind.MERGE,
    Kind.DELETE_ACCOUNT,
)


class Command(BaseCommand):
    help = (
        "Moderate bots (by slug), games (by number), ladders (by slug) and accounts"
        " (by name). `log` prints the latest 50 entries of the audit log."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "kind",
            choices=[*KINDS, "misjudged", "log"],
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
        by = _one(User, username=options["by"]) if options["by"] else None
        operator = Operator(
            by, options["why"] or "the present engine gives another result"
        )
        try:
            if kind == "misjudged":
                self._misjudged(operator, options)
            else:
                self.stdout.write(str(_act(operator, Kind(kind), target, options)))
        except LadderError as refusal:
            raise CommandError(str(refusal)) from refusal

    def _misjudged(self, operator: Operator, options: dict[str, Any]) -> None:
        season = _season(options["target"])
        for game, fault in operations.misjudged(season, options["engine"]):
            self.stdout.write(f"game {game}: {fault}")
            if options["void"]:
                operations.void(operator, game)


def _act(
    operator: Operator, kind: AuditEntry.Kind, target: str, options: dict[str, Any]
) -> AuditEntry:
    if kind in BOT_KINDS:
        return bots.set_aside(operator, _one(Bot, slug=target), kind)
    if kind in SEASON_KINDS:
        season = _season(target)
        if options["prizes"] is not None:
            season.prizes = options["prizes"]
        return operations.move_season(operator, season, kind)
    if kind == Kind.START:
        return operations.start(operator, _one(Ladder, slug=target))
    if kind in LADDER_ACTIONS:
        bot = _one(Bot, slug=target)
        return LADDER_ACTIONS[kind](operator, bot, _one(Ladder, slug=options["ladder"]))
    if kind in (Kind.VOID, Kind.RERUN):
        act = operations.void if kind == Kind.VOID else operations.rerun
        return act(operator, _game(target))
    return _act_on_people(operator, kind, target, options["into"])


def _act_on_people(
    operator: Operator, kind: AuditEntry.Kind, target: str, into: str
) -> AuditEntry:
    if kind == Kind.DELETE_ACCOUNT:
        return bots.delete_account(operator, _one(User, username=target))
    bot = _one(Bot, slug=target)
    if kind == Kind.MERGE:
        return operations.merge(operator, bot, _one(Bot, slug=into))
    return bots.reinstate(operator, bot)


def _game(number: str) -> int:
    if not (number.isascii() and number.isdigit() and len(number) <= MAX_ID_DIGITS):
        raise CommandError(f"{number[:80]!r} is not the number of a game.")
    return int(number)


def _season(ladder: str) -> Season:
    newest = Season.objects.filter(ladder__slug=ladder).order_by("-number")
    if season := newest.select_related("ladder").first():
        return season
    raise CommandError(f"There is no ladder {ladder!r}, or it has no season.")


def _one(model: type[M], **fields: str) -> M:
    if row := model._default_manager.filter(**fields).first():  # noqa: SLF001
        return row
    named = ", ".join(f"{field} {value!r}" for field, value in fields.items())
    raise CommandError(f"There is no {model.__name__.lower()} with {named}.")
