"""`manage.py operator`: what an operator does, from a console, with an audit log."""

from argparse import ArgumentParser
from typing import Any, TypeVar

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError
from django.db.models import Model

from ladder.bots.models import Bot
from ladder.common.errors import LadderError
from ladder.ratings import operators
from ladder.ratings.models import Action, Ladder, Season
from ladder.ratings.operators import Order

M = TypeVar("M", bound=Model)
Kind = Action.Kind
ASIDE = (Kind.BENCH, Kind.BAN, Kind.WITHDRAW)
SEASON = (Kind.FREEZE, Kind.REOPEN, Kind.FINALS, Kind.ARCHIVE)
KINDS = (
    *ASIDE,
    *SEASON,
    Kind.REINSTATE,
    Kind.VOID,
    Kind.RERUN,
    Kind.START,
    Kind.MERGE,
    Kind.DELETE_ACCOUNT,
)


class Command(BaseCommand):
    help = "Act on bots (slug), games (number), ladders (slug) and accounts (name)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("kind", choices=[*KINDS, "misjudged", "log"])
        parser.add_argument("target", nargs="?", default="")
        parser.add_argument("--why", default="", help="for the audit log")
        parser.add_argument("--by", default="", help="who acts: a user's name")
        parser.add_argument("--into", default="", help="merge: the bot that stays")
        parser.add_argument("--prizes", type=int, help="finals: places to settle")
        parser.add_argument("--engine", default="", help="misjudged: of this version")
        parser.add_argument(
            "--void", action="store_true", help="misjudged: void them, play again"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        del args
        kind, target = options["kind"], options["target"]
        if kind == "log":
            for action in Action.objects.select_related("by")[:50]:
                who = action.by or "the service"
                self.stdout.write(f"{action.at:%F %T} {action} by {who}: {action.why}")
            return
        if not options["why"] and kind != "misjudged":
            raise CommandError("Say --why; it stands in the audit log.")
        by = _one(User, username=options["by"]) if options["by"] else None
        order = Order(by, options["why"] or "judged otherwise by the present engine")
        try:
            if kind == "misjudged":
                self._misjudged(order, options)
            else:
                self.stdout.write(str(_act(order, Kind(kind), target, options)))
        except LadderError as refusal:
            raise CommandError(str(refusal)) from refusal

    def _misjudged(self, order: Order, options: dict[str, Any]) -> None:
        season = _season(options["target"])
        for game, fault in operators.misjudged(season, options["engine"]):
            self.stdout.write(f"game {game}: {fault}")
            if options["void"]:
                operators.void(order, game)


def _act(
    order: Order, kind: Action.Kind, target: str, options: dict[str, Any]
) -> Action:
    if kind in ASIDE:
        return operators.set_aside(order, _one(Bot, slug=target), kind)
    if kind in SEASON:
        season = _season(target)
        season.prizes = options["prizes"] or season.prizes
        return operators.move_season(order, season, kind)
    if kind == Kind.START:
        return operators.start(order, _one(Ladder, slug=target))
    if kind in (Kind.VOID, Kind.RERUN):
        act = operators.void if kind == Kind.VOID else operators.rerun
        return act(order, int(target))
    return _about_people(order, kind, target, options["into"])


def _about_people(order: Order, kind: Action.Kind, target: str, into: str) -> Action:
    if kind == Kind.DELETE_ACCOUNT:
        return operators.delete_account(order, _one(User, username=target))
    bot = _one(Bot, slug=target)
    if kind == Kind.MERGE:
        return operators.merge(order, bot, _one(Bot, slug=into))
    return operators.reinstate(order, bot)


def _season(ladder: str) -> Season:
    newest = Season.objects.filter(ladder__slug=ladder).order_by("-number")
    if season := newest.select_related("ladder").first():
        return season
    raise CommandError(f"There is no ladder {ladder!r} with a season.")


def _one(model: type[M], **where: str) -> M:
    if found := model._default_manager.filter(**where).first():  # noqa: SLF001
        return found
    raise CommandError(f"There is no {model.__name__.lower()} {where}.")
