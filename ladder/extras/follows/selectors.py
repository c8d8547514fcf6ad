"""Queries on follows, and on what can be followed."""

from django.contrib.auth.models import User
from django.core.validators import slug_re
from django.db.models import QuerySet

from ladder.accounts.roles import Person
from ladder.bots.models import Bot
from ladder.extras.follows.models import Follow, Followable, kind_of
from ladder.ratings.models import Ladder
from ladder.tournaments import visibility as tournaments


def find(kind: str, slug: str) -> Followable | None:
    """Find a bot, ladder or tournament that people may follow; None if there is none.

    Nobody follows bots that are gone, or drafts of tournaments.
    """
    if not slug_re.match(slug):
        return None
    if kind == "bot":
        bot = Bot.objects.filter(slug=slug).first()
        return None if bot is None or bot.is_gone else bot
    if kind == "ladder":
        return Ladder.objects.filter(slug=slug).first()
    return tournaments.tournaments().filter(slug=slug).first()


def follows_of(user: User) -> QuerySet[Follow]:
    """List what a person follows, the newest first."""
    rows = Follow.objects.filter(user=user).order_by("-pk")
    return rows.select_related("bot", "ladder", "tournament")


def is_following(person: Person, subject: Followable) -> bool:
    """True if a person follows something."""
    if not isinstance(person, User):
        return False
    return Follow.objects.filter(user=person, **{kind_of(subject): subject}).exists()
