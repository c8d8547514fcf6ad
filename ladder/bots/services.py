"""Owners' actions on their bots: create, withdraw and bring back.

These functions change rows and send no messages. Uploads are in `submissions`, the bots
of the service itself in `house_bots`, and operators' actions in `ladder.moderation`.
"""

import secrets
import unicodedata
from collections.abc import Iterable

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.utils.text import slugify

from ladder.bots.models import Bot
from ladder.common.errors import LadderError, TooMany

HOUSE_PREFIX = "house-"
RESERVED_SLUGS = {"new", "house"}
MAX_NAME_LENGTH = 64


class BadName(LadderError):
    code = "bad-name"
    http_status = 400


class NameTaken(LadderError):
    code = "name-taken"
    http_status = 409


class NotActive(LadderError):
    """The status of the bot does not allow this action."""

    code = "bot-not-active"
    http_status = 409


def create_bot(owner: User, name: str) -> Bot:
    """Create a bot. Its slug is derived from its name and never changes.

    Raises BadName, NameTaken, and TooMany if the owner's quota of bots is used up.
    """
    name = unicodedata.normalize("NFKC", name).strip()
    if not 1 <= len(name) <= MAX_NAME_LENGTH or not name.isprintable():
        raise BadName(
            f"A name has 1 to {MAX_NAME_LENGTH} printable characters. Choose another."
        )
    slug = slugify(name) or f"bot-{secrets.token_hex(3)}"
    if slug in RESERVED_SLUGS or slug.startswith(HOUSE_PREFIX):
        raise NameTaken(f"The name {slug} is reserved. Choose another name.")
    with transaction.atomic():
        # The lock makes the quota exact if one owner creates two bots at once.
        User.objects.select_for_update().get(pk=owner.pk)
        if owner.bots.count() >= settings.TORRES_BOTS_PER_OWNER:
            raise TooMany(
                f"You have {settings.TORRES_BOTS_PER_OWNER} bots, the most that one"
                " person may have. Upload to one of them instead."
            )
        bot, created = Bot.objects.get_or_create(
            slug=slug, defaults={"name": name, "owner": owner}
        )
    if not created:
        raise NameTaken(f"There is already a bot called {slug}. Choose another name.")
    return bot


def withdraw(bot: Bot) -> Bot:
    """Take a bot out of play. Its results stay. Raises NotActive."""
    return _change_status(
        bot, (Bot.Status.ACTIVE, Bot.Status.BENCHED), Bot.Status.WITHDRAWN
    )


def bring_back(bot: Bot) -> Bot:
    """Let a withdrawn or benched bot play again. Raises NotActive."""
    return _change_status(
        bot, (Bot.Status.WITHDRAWN, Bot.Status.BENCHED), Bot.Status.ACTIVE
    )


def _change_status(bot: Bot, before: Iterable[Bot.Status], after: Bot.Status) -> Bot:
    """Change the status from one of ``before`` to ``after``; idempotent."""
    Bot.objects.filter(pk=bot.pk, status__in=before).update(status=after)
    bot.refresh_from_db(fields=["status"])
    if bot.status != after:
        raise NotActive(
            f"The bot is {bot.status}, and its owner cannot change that."
            " Ask the operator."
        )
    return bot
