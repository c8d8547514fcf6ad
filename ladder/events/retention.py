"""Retention rules: facts are deleted some days after they happened.

The names of deleted accounts are erased before that.
"""

from collections.abc import Callable
from datetime import timedelta

from django.conf import settings
from django.db.models import QuerySet
from django.db.models.functions import Now

from ladder.common.retention import RetentionRule, rule_for_rows
from ladder.events import erasure, stream
from ladder.events.models import EventErasure, Fact


def rules(*oldest_needed: Callable[[], int | None]) -> list[RetentionRule]:
    """Return the rules.

    Each reader says from which number on it needs facts; None if it needs none.
    """

    def due() -> QuerySet[Fact]:
        keep = timedelta(days=settings.TORRES_KEEP_EVENTS_DAYS)
        # The newest event stays, and with it all later facts, because the next number
        # follows from the last one.
        needed = (ask() for ask in oldest_needed)
        last = min([stream.newest(), *(n for n in needed if n is not None)])
        return Fact.objects.filter(number__lt=last, created_at__lt=Now() - keep)

    setting = "TORRES_KEEP_EVENTS_DAYS"
    return [
        rule_for_rows("events", setting, Fact.objects.all, due, in_order=True),
        RetentionRule(
            "events of deleted accounts",
            "",
            EventErasure.objects.count,
            erasure.due,
            erasure.erase_slice,
        ),
    ]
