"""Owners' actions on their bots: create, withdraw, bring back, open to practice.

These functions change rows and send no messages. Uploads are in `submissions`, the bots
of the service itself in `house_bots`, and operators' actions in `ladder.moderation`.
"""

import secrets

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils.text import slugify

from ladder.bots.facts import record_status
from ladder.bots.models import Bot
from ladder.bots.names import NameTaken, clean_name
from torres.common.errors import LadderError, TooMany
from torres.common.names import name_key

HOUSE_PREFIX = "house-"
RESERVED_SLUGS = {"new", "house"}


class NotActive(LadderError, code="bot-not-active", http_status=409):
    """The status of the bot does not allow this action."""


def create_bot(owner: User, name: str) -> Bot:
    """Create a bot. Its slug is derived from its name and never changes.

    Raises BadName, NameTaken, and TooMany if the owner's quota of bots is used up.
    """
    name = clean_name(name)
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
        key = name_key(name)
        same = Bot.objects.filter(Q(slug=slug) | Q(name_key=key)).first()
        if same is None:
            try:
                with transaction.atomic():
                    return Bot.objects.create(
                        slug=slug, name=name, name_key=key, owner=owner
                    )
            except IntegrityError:  # another request created it meanwhile
                pass
    raise NameTaken(f"There is already a bot called {name}. Choose another name.")


def withdraw(bot: Bot) -> Bot:
    """Take a bot out of play. Its results stay. Raises NotActive."""
    return _change_status(bot, Bot.Status.ACTIVE, Bot.Status.WITHDRAWN)


def bring_back(bot: Bot) -> Bot:
    """Let a withdrawn bot play again. Raises NotActive."""
    return _change_status(bot, Bot.Status.WITHDRAWN, Bot.Status.ACTIVE)


def set_open_to_practice(bot: Bot, *, is_open: bool) -> None:
    """Let other people play against a bot by hand, or not any more. Idempotent."""
    Bot.objects.filter(pk=bot.pk).update(open_to_practice=is_open)


def _change_status(bot: Bot, before: Bot.Status, after: Bot.Status) -> Bot:
    """Change the status from ``before`` to ``after``; idempotent.

    Operators bench and ban bots, so that owners can end neither.
    """
    with transaction.atomic():
        if Bot.objects.filter(pk=bot.pk, status=before).update(status=after):
            record_status(bot, after)
    bot.refresh_from_db(fields=["status"])
    if bot.status != after:
        raise NotActive(
            f"The bot is {bot.status}, and its owner cannot change that."
            " Ask the operator."
        )
    return bot
