"""The follows of people, and the daily mails of those who want one."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from ladder.bots.models import Bot
from ladder.ratings.models import Ladder
from ladder.tournaments.models import Tournament

MAX_SITE_LENGTH = 500
MAX_LANGUAGE_LENGTH = 16
Followable = Bot | Ladder | Tournament
KINDS = ("bot", "ladder", "tournament")
"""The columns of a follow. Exactly one of them is set."""


def _only(kind: str) -> Q:
    return Q(**{f"{each}__isnull": each != kind for each in KINDS})


class Follow(models.Model):
    """A person follows a bot, a ladder or a tournament.

    `seen` is the state of it that the last mail has told (`news.state`). It is null if
    there is none to compare with.
    """

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="follows"
    )
    bot = models.ForeignKey(
        Bot, models.CASCADE, null=True, blank=True, related_name="+"
    )
    ladder = models.ForeignKey(
        Ladder, models.CASCADE, null=True, blank=True, related_name="+"
    )
    tournament = models.ForeignKey(
        Tournament, models.CASCADE, null=True, blank=True, related_name="+"
    )
    seen = models.JSONField(null=True, editable=False)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=_only("bot") | _only("ladder") | _only("tournament"),
                name="a_follow_is_of_one_thing",
            ),
            *(
                models.UniqueConstraint(
                    fields=["user", kind], name=f"one_follow_per_user_and_{kind}"
                )
                for kind in KINDS
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user} follows {self.kind} {self.subject.slug}"

    @property
    def subject(self) -> Followable:
        """The bot, the ladder or the tournament."""
        subject: Followable | None = self.bot or self.ladder or self.tournament
        assert subject is not None  # the constraint permits no other row
        return subject

    @property
    def kind(self) -> str:
        """The one of KINDS that is set."""
        return kind_of(self.subject)


def kind_of(subject: Followable) -> str:
    """Return the one of KINDS that something is."""
    return type(subject).__name__.lower()


class DailyMail(models.Model):
    """A person wants a mail a day about what they follow; without a row, none.

    `site` is the address of the service as the person sees it, for links. `language` is
    the language of the page on which the person chose the mail. The last mail told
    the events up to the number `cursor`. Nothing is sent before `due_at`.
    """

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        models.CASCADE,
        primary_key=True,
        related_name="daily_mail",
    )
    site = models.CharField(max_length=MAX_SITE_LENGTH)
    language = models.CharField(max_length=MAX_LANGUAGE_LENGTH, db_default="en")
    cursor = models.BigIntegerField()
    due_at = models.DateTimeField(db_default=Now(), db_index=True)

    def __str__(self) -> str:
        return f"daily mail of {self.user}"
