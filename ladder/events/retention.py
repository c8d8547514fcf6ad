"""Retention rules: events are deleted some days after they happened.

The names of deleted accounts are erased before that.
"""

from collections.abc import Callable
from datetime import timedelta

from django.conf import settings
from django.db.models import QuerySet
from django.db.models.functions import Now

from ladder.common.retention import RetentionRule, rule_for_rows
from ladder.events import erasure, stream
from ladder.events.models import Event, EventErasure


def rules(oldest_needed: Callable[[], int | None]) -> list[RetentionRule]:
    """Return the rules. Events from `oldest_needed` on are kept; None needs none."""

    def due() -> QuerySet[Event]:
        keep = timedelta(days=settings.TORRES_KEEP_EVENTS_DAYS)
        # Events without a number are not deleted, and perhaps nobody reads events.
        stream.number_new()
        # The newest one stays, because the next number follows from it.
        last = stream.newest()
        needed = oldest_needed()
        last = last if needed is None else min(last, needed)
        return Event.objects.filter(number__lt=last, created_at__lt=Now() - keep)

    setting = "TORRES_KEEP_EVENTS_DAYS"
    return [
        rule_for_rows("events", setting, Event.objects.all, due, in_order=True),
        RetentionRule(
            "events of deleted accounts",
            "",
            EventErasure.objects.count,
            erasure.due,
            erasure.erase_slice,
        ),
    ]
