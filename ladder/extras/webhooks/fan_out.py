"""Turn new events into deliveries, webhook by webhook.

Each webhook has a cursor in the order of the events. It moves in the transaction that
adds the deliveries, so that a process that is killed loses no event. While MAX_WAITING
deliveries of a webhook wait, its cursor stays: its backlog lies in the outbox.
"""

from collections.abc import Sequence
from datetime import datetime
from itertools import groupby
from operator import attrgetter

import structlog
from django.db import Error, transaction
from django.db.models import Count, Q, QuerySet

from ladder.events import stream
from ladder.events.kinds import EventKind
from ladder.events.stream import EventRow
from ladder.extras.webhooks.models import DeliveryStatus, Webhook, WebhookDelivery

MAX_WAITING = 200
EVENTS_AT_ONCE = 500
WEBHOOKS_AT_ONCE = 500
BROKEN = "Its settings are damaged. Ask an operator."

log = structlog.get_logger()


def active() -> QuerySet[Webhook]:
    """Return the webhooks to which something is sent."""
    return Webhook.objects.filter(active=True, user__is_active=True)


def behind() -> QuerySet[Webhook]:
    """Return the active webhooks that have not examined all numbered events."""
    return active().filter(cursor__lt=stream.newest())


def fan_out(now: datetime) -> int:
    """Examine new events for all webhooks; return how many deliveries were added.

    An error stops the webhook that it concerns only.
    """
    waiting = Count("deliveries", filter=Q(deliveries__status=DeliveryStatus.WAITING))
    rows = behind().select_related("user").annotate(waiting=waiting)
    rows = rows.filter(waiting__lt=MAX_WAITING).order_by("cursor", "pk")
    added = 0
    for cursor, group in groupby(rows[:WEBHOOKS_AT_ONCE], attrgetter("cursor")):
        events = stream.read(cursor, EVENTS_AT_ONCE)
        if events:
            added += _examine(list(group), events, now)
    return added


def _examine(
    webhooks: Sequence[Webhook], events: Sequence[EventRow], now: datetime
) -> int:
    """Examine the same events for webhooks with the same cursor."""
    unconcerned = []
    added = 0
    for webhook in webhooks:
        try:
            wanted = [event for event in events if wants(webhook, event)]
            if wanted:
                added += _add(webhook, wanted, events[-1].number, now)
            else:
                unconcerned.append(webhook.pk)
        except Error:
            raise
        except Exception:  # one damaged row must not stop the others
            log.exception("a webhook is switched off", webhook=webhook.pk)
            Webhook.objects.filter(pk=webhook.pk).update(active=False, note=BROKEN)
    rows = Webhook.objects.filter(pk__in=unconcerned, cursor=webhooks[0].cursor)
    rows.update(cursor=events[-1].number)
    return added


def wants(webhook: Webhook, event: EventRow) -> bool:
    """True if an event is sent to a webhook.

    All filters of the webhook must fit. Its owner must be allowed to see the event. A
    test is sent to the webhook that is tested, whatever its filters are.
    """
    if event.kind == EventKind.WEBHOOK_TEST:
        return bool(event.data.get("webhook") == webhook.pk)
    filters = {
        "type": webhook.types,
        "bots": webhook.bots,
        "ladder": webhook.ladders,
        "tournament": webhook.tournaments,
    }
    is_shown = event.is_shown_to(webhook.user_id, is_operator=webhook.user.is_staff)
    return is_shown and all(
        event.has_one_of(values, key) for key, values in filters.items() if values
    )


def _add(webhook: Webhook, wanted: Sequence[EventRow], last: int, now: datetime) -> int:
    """Add deliveries and move the cursor; nothing if another process did so.

    An event that was sent before is sent again, because its owner asked for that.
    """
    free = MAX_WAITING - int(getattr(webhook, "waiting", 0))
    if len(wanted) > free:
        wanted = wanted[:free]
        last = wanted[-1].number
    rows = [
        WebhookDelivery(
            webhook=webhook, event_id=event.number, created_at=now, next_at=now
        )
        for event in wanted
    ]
    with transaction.atomic():
        unmoved = Webhook.objects.filter(pk=webhook.pk, cursor=webhook.cursor)
        if not unmoved.update(cursor=last):
            return 0
        WebhookDelivery.objects.bulk_create(
            rows,
            update_conflicts=True,
            unique_fields=["webhook", "event"],
            update_fields=[
                *("status", "tries", "created_at", "next_at"),
                *("ended_at", "response", "error", "lease_until"),
            ],
        )
    return len(rows)


def oldest_needed() -> int | None:
    """Return the number of the first event that a webhook still needs; None for none.

    Webhooks of users that were deactivated need none.
    """
    waiting = WebhookDelivery.objects.filter(
        status=DeliveryStatus.WAITING, webhook__in=active()
    ).order_by("event")
    delivery = waiting.values_list("event", flat=True).first()
    cursor = active().order_by("cursor").values_list("cursor", flat=True).first()
    numbers = [delivery, None if cursor is None else cursor + 1]
    return min((number for number in numbers if number is not None), default=None)
