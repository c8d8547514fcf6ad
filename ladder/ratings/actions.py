"""Every action of an operator by its name: the console and the REST API call `perform`.

Each action writes an audit entry with its reason. The functions themselves are in
`moderation`, `operations` and `memberships`; the admin calls them directly.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from django.contrib.auth.models import User
from django.db.models import Model

from ladder.bots.models import Bot
from ladder.common.storable import storable
from ladder.games.models import Game
from ladder.moderation import bots, workers
from ladder.moderation.audit import Operator
from ladder.moderation.models import AuditEntry
from ladder.ratings import memberships, operations
from ladder.ratings.models import Ladder, Season
from torres.common.errors import LadderError
from torres.common.quoting import quoted

MAX_ID_DIGITS = 18  # all such numbers fit into a BIGINT
M = TypeVar("M", bound=Model)
Kind = AuditEntry.Kind
BOT_KINDS = (Kind.BENCH, Kind.BAN, Kind.WITHDRAW)
SEASON_KINDS = (Kind.FREEZE, Kind.REOPEN, Kind.FINALS, Kind.ARCHIVE)


class UnknownTarget(LadderError):
    """The row that the action is about does not exist; the message names it."""

    code = "not-found"
    http_status = 404


@dataclass(frozen=True, slots=True)
class ActionRequest:
    """The wish of an operator: one action on one target.

    - ``target``: the slug of a bot or ladder, the number of a game, a user name, or
      the name of a worker.
    - ``into``: the bot that stays after a merge; ``ladder``: the ladder that a bot
      joins or leaves; ``prizes``: the number of prizes of finals.
    """

    kind: AuditEntry.Kind
    target: str
    into: str = ""
    ladder: str = ""
    prizes: int | None = None


def perform(operator: Operator, action: ActionRequest) -> AuditEntry:
    """Do what an operator wants, and return the entry of the audit log.

    Raises UnknownTarget, and the refusals of the actions.
    """
    return ACTIONS[action.kind](operator, action)


def _set_aside(operator: Operator, action: ActionRequest) -> AuditEntry:
    return bots.set_aside(operator, _bot(action.target), action.kind)


def _reinstate(operator: Operator, action: ActionRequest) -> AuditEntry:
    return bots.reinstate(operator, _bot(action.target))


def _merge(operator: Operator, action: ActionRequest) -> AuditEntry:
    return operations.merge(operator, _bot(action.target), _bot(action.into))


def _move_season(operator: Operator, action: ActionRequest) -> AuditEntry:
    season = newest_season(action.target)
    if action.prizes is not None:
        season.prizes = action.prizes
    return operations.move_season(operator, season, action.kind)


def _start(operator: Operator, action: ActionRequest) -> AuditEntry:
    return operations.start(operator, _ladder(action.target))


def _admit(operator: Operator, action: ActionRequest) -> AuditEntry:
    bot = _bot(action.target)
    return memberships.admit(operator, bot, _ladder(action.ladder))


def _remove(operator: Operator, action: ActionRequest) -> AuditEntry:
    bot = _bot(action.target)
    return memberships.remove(operator, bot, _ladder(action.ladder))


def _void(operator: Operator, action: ActionRequest) -> AuditEntry:
    return operations.void(operator, _game(action.target))


def _rerun(operator: Operator, action: ActionRequest) -> AuditEntry:
    return operations.rerun(operator, _game(action.target))


def _delete_account(operator: Operator, action: ActionRequest) -> AuditEntry:
    return bots.delete_account(operator, _user(action.target))


def _set_organiser(operator: Operator, action: ActionRequest) -> AuditEntry:
    return bots.set_organiser(operator, _user(action.target), action.kind)


def _drain(operator: Operator, action: ActionRequest) -> AuditEntry:
    act = workers.drain if action.kind == Kind.DRAIN else workers.undrain
    return act(operator, action.target)


ACTIONS: Mapping[AuditEntry.Kind, Callable[[Operator, ActionRequest], AuditEntry]] = {
    **dict.fromkeys(BOT_KINDS, _set_aside),
    **dict.fromkeys(SEASON_KINDS, _move_season),
    Kind.REINSTATE: _reinstate,
    Kind.VOID: _void,
    Kind.RERUN: _rerun,
    Kind.START: _start,
    Kind.JOIN: _admit,
    Kind.LEAVE: _remove,
    Kind.MERGE: _merge,
    Kind.DELETE_ACCOUNT: _delete_account,
    Kind.ORGANISER: _set_organiser,
    Kind.NO_ORGANISER: _set_organiser,
    Kind.DRAIN: _drain,
    Kind.UNDRAIN: _drain,
}


def newest_season(ladder: str) -> Season:
    """Return the newest season of a ladder. Raises UnknownTarget."""
    newest = Season.objects.filter(ladder__slug=storable(ladder)).order_by("-number")
    if season := newest.select_related("ladder").first():
        return season
    raise UnknownTarget(f"There is no ladder {quoted(ladder)}, or it has no season.")


def _game(number: str) -> int:
    if not (number.isascii() and number.isdigit() and len(number) <= MAX_ID_DIGITS):
        raise UnknownTarget(f"{quoted(number)} is not the number of a game.")
    if not Game.objects.filter(pk=int(number)).exists():
        raise UnknownTarget(f"There is no game {number}.")
    return int(number)


def _bot(slug: str) -> Bot:
    return _one(Bot, slug=slug)


def _ladder(slug: str) -> Ladder:
    return _one(Ladder, slug=slug)


def _user(name: str) -> User:
    return _one(User, username=name)


def _one(model: type[M], **fields: str) -> M:
    known = {field: storable(value) for field, value in fields.items()}
    if row := model._default_manager.filter(**known).first():  # noqa: SLF001
        return row
    named = ", ".join(f"{field} {quoted(value)}" for field, value in fields.items())
    raise UnknownTarget(f"There is no {model.__name__.lower()} with {named}.")
