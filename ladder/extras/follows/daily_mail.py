"""Send the daily mails whose time has come.

A mail is claimed for a day just before it is sent, and what it told is recorded after
that. So a process that is killed never sends two mails on one day, and no news are
lost: if it is not known whether a mail was sent, its news come again on the next day.
"""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, NamedTuple

import structlog
from django.conf import settings
from django.core.mail import get_connection
from django.core.mail.backends.base import BaseEmailBackend
from django.db import Error, transaction
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _, gettext_noop

from ladder.accounts import mail
from ladder.bots.models import Bot
from ladder.events import stream
from ladder.events.stream import EventRow
from ladder.extras.follows import news, selectors, services
from ladder.extras.follows.models import DailyMail, Follow

DAY = timedelta(days=1)
AT_ONCE = 100
MAX_NEWS = 5000
"""The newest events among which one run looks for news."""

TITLES = {
    "bot": gettext_noop("bot"),
    "ladder": gettext_noop("ladder"),
    "tournament": gettext_noop("tournament"),
}

log = structlog.get_logger()


class MailSection(NamedTuple):
    """The news of one bot, ladder or tournament."""

    title: str
    link: str
    lines: list[str]


@dataclass(frozen=True, slots=True)
class NewsOfRun:
    """The events up to the number `until`, oldest first, and the states until now."""

    until: int
    events: Sequence[EventRow]
    _states: dict[object, dict[str, Any]] = field(default_factory=dict)

    def state(self, follow: Follow) -> dict[str, Any]:
        """Return the present state. It is read once, because many follow the same."""
        subject = follow.subject
        if subject not in self._states:
            self._states[subject] = news.state(subject)
        return self._states[subject]

    def about(self, follow: Follow, after: int) -> list[EventRow]:
        """Return the events with a higher number that concern a follow."""
        subject = follow.subject
        key = news.EVENT_KEYS[type(subject)]
        return [
            event
            for event in self.events
            if event.number > after and event.has_one_of([subject.slug], key)
        ]


def due() -> QuerySet[DailyMail]:
    """List the mails whose time has come; none if the service sends no mail."""
    rows = DailyMail.objects.filter(due_at__lte=Now(), user__is_active=True)
    if not settings.TORRES_SENDS_MAIL:
        return rows.none()
    return rows.exclude(user__email="").order_by("due_at", "pk")


def send_due() -> int:
    """Send the first AT_ONCE mails of `due`. Return how many were sent.

    One that fails does not stop the others. If the mail server does not answer, all
    wait for the next call.
    """
    rows = list(due().select_related("user")[:AT_ONCE])
    if not rows:
        return 0
    until = stream.newest()
    events = stream.news(min(row.cursor for row in rows), MAX_NEWS)
    told = NewsOfRun(until, [event for event in events if event.number <= until])
    sent = 0
    for row in rows:
        try:
            with translation.override(row.language):
                sent += _handle(row, told)
        except OSError as error:
            log.error("daily mails wait", reason=str(error)[:500])  # noqa: TRY400
            break
    return sent


def _handle(row: DailyMail, told: NewsOfRun) -> bool:
    """Send one mail, if there are news. Raises OSError if no mail can be sent now."""
    follows = list(selectors.follows_of(row.user))
    found = (_section(row, follow, told) for follow in follows)
    sections = [section for section in found if section is not None]
    with closing(get_connection()) as connection:
        if sections:
            connection.open()
        if not _claim(row):
            return False
        if sections and not _send(row, sections, connection):
            return False
    with transaction.atomic():
        Follow.objects.bulk_update(follows, ["seen"])
        DailyMail.objects.filter(pk=row.pk).update(cursor=told.until)
    return bool(sections)


def _section(row: DailyMail, follow: Follow, told: NewsOfRun) -> MailSection | None:
    """Return the news of a follow, if there are any, and set what the person has seen.

    A follow that fails has no news, and begins anew.
    """
    before, follow.seen = follow.seen, None
    subject = follow.subject
    if isinstance(subject, Bot) and subject.is_gone:
        return None
    try:
        now = told.state(follow)
        events = told.about(follow, row.cursor)
        lines = news.sentences(subject, before, now, events)
    except Error:
        raise
    except Exception:  # one damaged row must not stop the others
        log.exception("a follow is left out of a mail", follow=follow.pk)
        return None
    follow.seen = now
    link = row.site.rstrip("/") + reverse(f"{follow.kind}-page", args=[subject.slug])
    title = f"{_(TITLES[follow.kind])} {subject.slug}"
    return MailSection(title, link, lines) if lines else None


def _claim(row: DailyMail) -> bool:
    """Let the next mail be due in a day; return False if another process did so."""
    waiting = DailyMail.objects.filter(pk=row.pk, due_at__lte=Now())
    return waiting.update(due_at=Now() + DAY) == 1


def _send(
    row: DailyMail, sections: list[MailSection], connection: BaseEmailBackend
) -> bool:
    """Send a mail; return False if that failed. The next day tells its news then."""
    site = row.site.rstrip("/")
    key = services.unsubscribe_key(row.pk)
    link = f"{site}{reverse('unsubscribe')}?key={key}"
    context = {
        "name": row.user.get_username(),
        "sections": sections,
        "follows": site + reverse("follows"),
        "unsubscribe": link,
    }
    headers = {
        "List-Unsubscribe": f"<{link}>",
        "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
    }
    try:
        message = mail.message(row.user.email, "follows/daily-mail.txt", context)
        message.extra_headers = headers
        message.connection = connection
        message.send()
    except Exception as error:  # one bad address must not stop the others
        # Not the recipient, because the log is kept longer than an account.
        log.exception("a daily mail was not sent", reason=str(error)[:500])
        return False
    return True
