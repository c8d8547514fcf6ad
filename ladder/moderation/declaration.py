"""The table of acts: each is declared once, and every door is made from it.

An act is something that an operator or an organiser does to one row: ban a bot, void a
game, cancel a tournament. Each app declares its acts in a module `acts` as a list
`ACTS`. From the table come the routes `operate/` of the REST API
(`ladder.web.api.act_views`), the page `/operate/` (`ladder.web.pages.operate_views`),
and `manage.py operator`. They call `perform`, which checks and records the act.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

from django.apps import apps
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Model
from django.utils.module_loading import module_has_submodule

from ladder.accounts.roles import is_operator
from ladder.common.storable import storable
from ladder.moderation.audit import Operator
from ladder.moderation.models import AuditEntry
from torres.common.errors import LadderError
from torres.common.quoting import quoted

MAX_ID_DIGITS = 18  # all such numbers fit into a BIGINT
MAX_TARGET_LENGTH = 150


class UnknownTarget(LadderError, code="not-found", http_status=404):
    """The row that the act is about does not exist; the message names it."""


class NotPermitted(LadderError, code="permission-denied", http_status=403):
    """This person may not do this to this row."""


class BadAction(LadderError, code="bad-action", http_status=422):
    """A person who signed in with a token may not do this; the message says why."""


@dataclass(frozen=True, slots=True)
class Target:
    """A kind of rows that acts change.

    - ``word`` names the kind, and ``help`` says how to name one row.
    - ``route`` is the address of a row in the REST API, below /api/v1/. Without a
      variable part the body names the row, in a field with the name ``word``.
    - ``lookup`` replaces the search for a row of ``model`` by ``field``.
    """

    word: str
    help: str
    route: str = ""
    model: type[Model] | None = None
    field: str = "pk"
    lookup: Callable[[str], Any] | None = None

    @property
    def is_in_body(self) -> bool:
        return "<" not in self.route

    def find(self, text: str) -> Any:  # noqa: ANN401 -- a row of any model
        """Return the row that a text names. Raises UnknownTarget."""
        text = storable(text)
        if self.lookup is not None:
            return self.lookup(text)
        assert self.model is not None
        is_number = text.isascii() and text.isdigit() and len(text) <= MAX_ID_DIGITS
        if self.field == "pk" and not is_number:
            raise UnknownTarget(f"{quoted(text)} is not the number of a {self.word}.")
        rows = self.model._default_manager  # noqa: SLF001 -- documented by Django
        if row := rows.filter(**{self.field: text}).first():
            return row
        if self.field == "pk":
            raise UnknownTarget(f"There is no {self.word} {text}.")
        name = self.model.__name__.lower()
        raise UnknownTarget(f"There is no {name} with {self.field} {quoted(text)}.")

    def subject(self, row: Any) -> str:  # noqa: ANN401 -- a row of any model
        """Name a row in the audit log, which must not hold the name of a person."""
        key = self.field if self.field == "slug" else "pk"
        return f"{self.word} {getattr(row, key, '')}".strip()


class ArgumentKind(StrEnum):
    SLUG = "slug"
    TEXT = "text"
    NUMBER = "number"
    DOCUMENT = "document"
    """A JSON object."""


@dataclass(frozen=True, slots=True)
class Argument:
    """A value that an act needs beside its target.

    A number is from ``least`` to ``most``; a text has at most ``most`` characters.
    With a ``target`` the text names a row, which the effect receives.
    """

    name: str
    help: str
    kind: ArgumentKind = ArgumentKind.SLUG
    least: int = 1
    most: int = 64
    required: bool = True
    target: Target | None = None


Effect = Callable[..., Any]


def by_operators(person: User, row: object) -> bool:
    return is_operator(person)


def any_token(row: object) -> str:
    return ""


def no_token(row: object) -> str:
    return (
        "Sign in with a password for this. What it changes would outlive the token with"
        " which this session was opened."
    )


@dataclass(frozen=True, slots=True)
class Act:
    """Something that a person does to one row, with a reason for the audit log.

    - ``name`` names it at the console, ``label`` on pages. ``help`` is one sentence.
    - ``effect`` takes the operator, the row, and the arguments by their names.
    - ``audit``: the kind of the entry that `perform` writes, in the transaction of
      the effect, which may return a text that is shown once. Without it the effect
      writes its entry itself and returns it.
    - ``who`` says if a person may do this to a row.
    - ``token_refusal`` says why a person who signed in with a token may not do this to
      a row. `no_token` means that the REST API does not offer the act.
    - ``word`` is its last part in addresses, by default made from the name.
    - ``over_rest`` is False if a view of its own offers it in the REST API.
    """

    name: str
    label: str
    help: str
    target: Target
    effect: Effect
    arguments: tuple[Argument, ...] = ()
    audit: AuditEntry.Kind | None = None
    who: Callable[[User, Any], bool] = by_operators
    token_refusal: Callable[[Any], str] = any_token
    word: str = ""
    over_rest: bool = True
    done: str = ""

    @property
    def address_word(self) -> str:
        return self.word or self.name.replace("_", "-")

    @property
    def has_route(self) -> bool:
        return self.over_rest and self.token_refusal is not no_token


class Done(NamedTuple):
    """The result of an act. ``shown_once`` is stored nowhere: a code, for example."""

    entry: AuditEntry
    shown_once: str


@cache
def table() -> Mapping[str, Act]:
    """Return the acts of all apps by their names."""
    modules = [
        import_module(f"{app.name}.acts")
        for app in apps.get_app_configs()
        if app.module is not None and module_has_submodule(app.module, "acts")
    ]
    return {act.name: act for module in modules for act in module.ACTS}


def perform(
    operator: Operator,
    act: Act,
    target: str,
    values: Mapping[str, Any],
    *,
    by_token: bool = False,
) -> Done:
    """Do an act on the row that a text names.

    ``values`` are the arguments as the doors have read and checked them. Raises
    UnknownTarget, NotPermitted, BadAction, and the refusals of the act itself.
    """
    row = act.target.find(target)
    if operator.by is not None and not act.who(operator.by, row):
        raise NotPermitted(f"You may not do this: {act.label.lower()}.")
    if by_token and (refusal := act.token_refusal(row)):
        raise BadAction(refusal)
    found = {
        argument.name: argument.target.find(values[argument.name])
        for argument in act.arguments
        if argument.target is not None and argument.name in values
    }
    arguments = {**values, **found}
    if act.audit is None:
        return Done(act.effect(operator, row, **arguments), "")
    subject = act.target.subject(row)
    with transaction.atomic():
        shown = act.effect(operator, row, **arguments)
        entry = operator.record(act.audit, subject, step=act.address_word)
    return Done(entry, shown if isinstance(shown, str) else "")
