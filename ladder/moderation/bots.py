"""Operators' actions on bots and accounts.

Besides the two actions of its owner (`bots.services.withdraw` and `bring_back`) this
module alone changes the status of a bot.
"""

from collections.abc import Iterable

from django.contrib.auth.models import User
from django.db import transaction

from ladder.bots.models import Bot, Submission
from ladder.games import services as games
from ladder.moderation.audit import Operator
from ladder.moderation.models import AuditEntry

Kind = AuditEntry.Kind


@transaction.atomic
def set_aside(operator: Operator, bot: Bot, kind: AuditEntry.Kind) -> AuditEntry:
    """Bench, ban or withdraw a bot: what has not begun is cancelled, results stay."""
    status = {
        Kind.BENCH: Bot.Status.BENCHED,
        Kind.BAN: Bot.Status.BANNED,
        Kind.WITHDRAW: Bot.Status.WITHDRAWN,
    }[kind]
    Bot.objects.filter(pk=bot.pk).update(status=status)
    cancelled = _cancel(bot, f"{bot.slug} is {status}")
    return operator.record(kind, f"bot {bot.slug}", cancelled=cancelled)


@transaction.atomic
def reinstate(operator: Operator, bot: Bot) -> AuditEntry:
    """Let a bot play again that was set aside."""
    Bot.objects.filter(pk=bot.pk).update(status=Bot.Status.ACTIVE)
    return operator.record(Kind.REINSTATE, f"bot {bot.slug}")


def bench(bots: Iterable[int], why: str, **details: object) -> list[Bot]:
    """Bench active bots on the service's own account; return the bots it benched."""
    benched = []
    for bot in Bot.objects.filter(pk__in=bots, status=Bot.Status.ACTIVE):
        Bot.objects.filter(pk=bot.pk).update(status=Bot.Status.BENCHED)
        Operator(None, why).record(Kind.BENCH, f"bot {bot.slug}", **details)
        benched.append(bot)
    return benched


def end_bench(bots: Iterable[int]) -> None:
    """Let benched bots play again, because they have a new version."""
    Bot.objects.filter(pk__in=bots, status=Bot.Status.BENCHED).update(
        status=Bot.Status.ACTIVE
    )


def retire(bot: Bot, note: str) -> int:
    """Withdraw a bot for good and cancel its scheduled games; return their number."""
    Bot.objects.filter(pk=bot.pk).update(status=Bot.Status.WITHDRAWN)
    return _cancel(bot, note)


@transaction.atomic
def delete_account(operator: Operator, user: User) -> AuditEntry:
    """Delete a person: bots stop and lose their names, results and ratings stay."""
    bots = list(user.bots.all())
    for bot in bots:
        _cancel(bot, "its owner's account was deleted")
        name = f"deleted-{bot.pk}"
        Bot.objects.filter(pk=bot.pk).update(
            slug=name, name=name, status=Bot.Status.WITHDRAWN
        )
        Submission.objects.filter(bot=bot).update(log="")
    # The name itself is what had to go, so it isn't noted.
    target = f"account {user.pk}"
    user.delete()
    return operator.record(Kind.DELETE_ACCOUNT, target, bots=[bot.pk for bot in bots])


def _cancel(bot: Bot, note: str) -> int:
    return sum(
        games.cancel_games_of(submission, note)
        for submission in bot.submissions.values_list("pk", flat=True)
    )
