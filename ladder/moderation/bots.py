"""Operators' actions on bots and accounts.

Only this module and the owner's two actions (`withdraw` and `bring_back` in
`bots.services`) change the status of a bot.
"""

from dataclasses import replace

from django.contrib.auth.models import User
from django.db import transaction

from ladder.accounts import roles
from ladder.bots.facts import record_name, record_status, status_leaf
from ladder.bots.models import Bot, Submission
from ladder.events import erasure as events
from ladder.events.outbox import record
from ladder.games import services as games
from ladder.moderation import erasure
from ladder.moderation.audit import Operator
from ladder.moderation.models import AuditEntry

Kind = AuditEntry.Kind
STATUS_AFTER = {
    Kind.BENCH: Bot.Status.BENCHED,
    Kind.BAN: Bot.Status.BANNED,
    Kind.WITHDRAW: Bot.Status.WITHDRAWN,
}


@transaction.atomic
def set_aside(operator: Operator, bot: Bot, kind: AuditEntry.Kind) -> AuditEntry:
    """Bench, ban or withdraw a bot, as ``kind`` says.

    Its scheduled games are cancelled, except those of tournaments. A ban or a bench
    ends its running games, too; otherwise they go on and count. Results stay.
    """
    status = STATUS_AFTER[kind]
    _change_status(bot, status)
    note = f"one of its bots is {status}"
    end_running = kind != Kind.WITHDRAW
    cancelled = _cancel_games(bot, note, end_running=end_running)
    return operator.record(kind, f"bot {bot.slug}", cancelled=cancelled)


@transaction.atomic
def reinstate(operator: Operator, bot: Bot) -> AuditEntry:
    """Let a benched, banned or withdrawn bot play again."""
    _change_status(bot, Bot.Status.ACTIVE)
    return operator.record(Kind.REINSTATE, f"bot {bot.slug}")


@transaction.atomic
def retire(bot: Bot, note: str) -> int:
    """Withdraw a bot and cancel its scheduled games. Return how many there were.

    The caller writes the entry of the audit log.
    """
    _change_status(bot, Bot.Status.WITHDRAWN)
    return _cancel_games(bot, note)


@transaction.atomic
def delete_account(operator: Operator, user: User) -> AuditEntry:
    """Delete an account. Its bots stop playing and lose their names; results stay.

    What lies in the rows of their games is erased soon after (`erasure`). A second call
    changes nothing, and returns the entry of the first.
    """
    # The log stays for ever, so that it must not hold the name of the person.
    target = f"account {user.pk}"
    # A request that creates a bot of this user locks the same row.
    locked = User.objects.select_for_update().filter(pk=user.pk).first()
    if locked is None:
        return AuditEntry.objects.get(kind=Kind.DELETE_ACCOUNT, target=target)
    bots = list(locked.bots.all())
    new_names = {}
    for bot in bots:
        record(leaf=status_leaf(bot, Bot.Status.WITHDRAWN))
        _cancel_games(bot, "its owner's account was deleted", end_running=True)
        name = f"deleted-{bot.pk}"
        Bot.objects.filter(pk=bot.pk).update(
            slug=name, name=name, name_key=None, status=Bot.Status.WITHDRAWN
        )
        Submission.objects.filter(bot=bot).update(log="")
        old_slug, bot.slug, bot.name = bot.slug, name, name
        record_name(bot)
        erasure.begin(bot, old_slug)
        new_names[old_slug] = name
    events.begin(user.pk, new_names)
    locked.delete()
    if operator.by == user:
        operator = replace(operator, by=None)
    return operator.record(Kind.DELETE_ACCOUNT, target, bots=[bot.pk for bot in bots])


def _change_status(bot: Bot, status: Bot.Status) -> None:
    if Bot.objects.filter(pk=bot.pk).exclude(status=status).update(status=status):
        record_status(bot, status)


@transaction.atomic
def set_organiser(operator: Operator, user: User, kind: AuditEntry.Kind) -> AuditEntry:
    """Make a user an organiser, or take the role away, as ``kind`` says. Idempotent."""
    if kind == Kind.ORGANISER:
        roles.add_organiser(user)
    else:
        roles.remove_organiser(user)
    return operator.record(kind, f"account {user.pk}")


def _cancel_games(bot: Bot, note: str, *, end_running: bool = False) -> int:
    return sum(
        games.cancel_games_of(submission, note, end_running=end_running)
        for submission in bot.submissions.values_list("pk", flat=True)
    )
