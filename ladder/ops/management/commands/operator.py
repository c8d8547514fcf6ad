"""`manage.py operator`: do an act of the table (`ladder.moderation.declaration`).

Each act writes an entry into the audit log, with the reason given by `--why`.
"""

import json
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import CommandError

from ladder.common.arguments import whole_number
from ladder.common.commands import ServiceCommand
from ladder.common.storable import storable
from ladder.moderation.audit import Operator
from ladder.moderation.declaration import Act, Argument, ArgumentKind, perform, table
from ladder.moderation.models import AuditEntry
from ladder.ratings import operations
from ladder.ratings.acts import newest_season
from torres.common.errors import LadderError

MISJUDGED = "the present engine gives another result"


class Command(ServiceCommand):
    help = (
        "Act on bots (by slug), games (by number), ladders and tournaments (by slug),"
        " workers and accounts (by name). `log` prints the latest 50 entries of the"
        " audit log; `acts` explains each act."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "kind",
            choices=[*table(), "misjudged", "log", "acts"],
            help="the act; misjudged lists games that the present engine judges"
            " differently",
        )
        parser.add_argument(
            "target", nargs="?", default="", help="a slug, a number or a user name"
        )
        parser.add_argument("--why", default="", help="the reason, for the audit log")
        parser.add_argument("--by", default="", help="user name of the operator")
        for name, acts in _options().items():
            [argument, *_] = acts.values()
            texts = dict.fromkeys(f"{act}: {each.help}" for act, each in acts.items())
            parser.add_argument(
                f"--{name}", type=_type(argument), help="; ".join(texts)
            )
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
        kind = options["kind"]
        if kind == "log":
            self._print_log()
        elif kind == "acts":
            self._print_acts()
        else:
            self._act(kind, options)

    def _print_log(self) -> None:
        for entry in AuditEntry.objects.select_related("by")[:50]:
            actor = entry.by or "the service"
            self.stdout.write(f"{entry.at:%F %T} {entry} by {actor}: {entry.why}")

    def _print_acts(self) -> None:
        for act in table().values():
            self.stdout.write(f"{act.name}: {act.help} It takes {act.target.help}.")

    def _act(self, kind: str, options: dict[str, Any]) -> None:
        why = options["why"] or (MISJUDGED if kind == "misjudged" else "")
        if not why:
            raise CommandError("Give the reason with --why, for the audit log.")
        operator = Operator(_operator(options["by"]), why)
        try:
            if kind == "misjudged":
                self._misjudged(operator, options)
                return
            act = table()[kind]
            done = perform(operator, act, options["target"], _values(act, options))
        except LadderError as refusal:
            raise CommandError(str(refusal)) from refusal
        self.stdout.write(str(done.entry))
        for worker in done.entry.details.get("workers", ()):
            self.stdout.write(worker)
        if done.shown_once:
            self.stdout.write(done.shown_once)

    def _misjudged(self, operator: Operator, options: dict[str, Any]) -> None:
        season = newest_season(options["target"])
        for game, fault in operations.misjudged(season, options["engine"]):
            self.stdout.write(f"game {game}: {fault}")
            if options["void"]:
                operations.void(operator, game)


def _options() -> dict[str, dict[str, Argument]]:
    """Return the arguments of all acts: by their names, then by the acts."""
    options: dict[str, dict[str, Argument]] = {}
    for act in table().values():
        for argument in act.arguments:
            options.setdefault(argument.name, {})[act.name] = argument
    return options


def _type(argument: Argument) -> Callable[[str], Any]:
    match argument.kind:
        case ArgumentKind.NUMBER:
            return whole_number(argument.least, argument.most)
        case ArgumentKind.DOCUMENT:
            return _json_object
        case _:
            return str


def _json_object(text: str) -> dict[str, Any]:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ArgumentTypeError(f"it is no JSON: {str(error)[:200]}") from error
    if not isinstance(document, dict):
        raise ArgumentTypeError("it must be a JSON object with the keys.")
    return document


def _values(act: Act, options: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of an act from the options."""
    values = {each.name: options[each.name] for each in act.arguments}
    for each in act.arguments:
        if each.required and values[each.name] is None:
            raise CommandError(f"{act.name} needs --{each.name}: {each.help}.")
    return {name: value for name, value in values.items() if value is not None}


def _operator(name: str) -> User | None:
    if not name:
        return None
    if user := User.objects.filter(username=name).first():
        return user
    raise CommandError(f"There is no user with username {name!r}.")
