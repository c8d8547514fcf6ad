"""The life of a delivery: taken by a sender, then delivered, or tried again later.

A delivery is tried for TRY_FOR, with pauses that double. A webhook whose last tries all
failed is tried less often, so that a receiver that is down costs little; when it
answers again, everything that waits is sent at once.
"""

import json
from collections import Counter
from collections.abc import Mapping
from datetime import datetime, timedelta
from random import Random

from django.db import transaction
from django.db.models import F, Q, Window
from django.db.models.functions import Coalesce, RowNumber

from ladder.common import leases
from ladder.common.leases import Held
from ladder.events import stream
from ladder.extras.webhooks import signing
from ladder.extras.webhooks.chat import chat_message
from ladder.extras.webhooks.fan_out import active
from ladder.extras.webhooks.models import (
    MAX_TEXT_LENGTH,
    DeliveryStatus,
    Webhook,
    WebhookDelivery,
    WebhookReceiver,
)
from ladder.extras.webhooks.transport import OutgoingMessage, SendResult

TRY_FOR = timedelta(hours=24)
FIRST_PAUSE_S = 5.0
MAX_PAUSE_S = 3600.0
# Pauses differ by up to this share, so that not all deliveries return together.
JITTER = 0.2
# A delivery belongs to the sender that took it for this time, longer than any try.
LEASE = timedelta(seconds=60)
AT_ONCE_PER_WEBHOOK = 2
# From this number of failures in a row on, a webhook counts as down.
FAILURES_OF_OUTAGE = 3
MAX_OUTAGE_PAUSE_S = 300.0
# A webhook that had no success for this time is switched off.
SWITCH_OFF_AFTER = timedelta(days=3)
GONE = 410
SWITCHED_OFF = "No delivery succeeded for 3 days. Switch it on when it works again."
RECEIVER_GONE = "The receiver answered 410 Gone. Switch it on to send again."


def due(now: datetime, limit: int, busy: Mapping[int, int]) -> list[WebhookDelivery]:
    """Return the deliveries that may be tried now, the first of each webhook first.

    ``busy`` counts the tries that run, by webhook.
    """
    ready = WebhookDelivery.objects.filter(
        leases.is_free(),
        Q(webhook__retry_at=None) | Q(webhook__retry_at__lte=now),
        status=DeliveryStatus.WAITING,
        next_at__lte=now,
        webhook__in=active(),
    )
    place = Window(RowNumber(), partition_by="webhook", order_by=["next_at", "event"])
    rows = ready.annotate(place=place).filter(place__lte=2 * AT_ONCE_PER_WEBHOOK)
    rows = rows.select_related("webhook", "event").order_by("place", "next_at")
    running = Counter(busy)
    chosen: list[WebhookDelivery] = []
    for row in rows:
        if len(chosen) >= limit:
            break
        is_down = row.webhook.failures >= FAILURES_OF_OUTAGE
        if running[row.webhook_id] < (1 if is_down else AT_ONCE_PER_WEBHOOK):
            running[row.webhook_id] += 1
            chosen.append(row)
    return chosen


def take(delivery: WebhookDelivery) -> bool:
    """Take a delivery for one try; return False if another sender has it."""
    delivery.tries += 1
    free = WebhookDelivery.objects.filter(
        leases.is_free(), status=DeliveryStatus.WAITING
    )
    fence = leases.take(free, delivery.pk, delivery.fence, LEASE, tries=delivery.tries)
    delivery.fence = fence or 0
    return fence is not None


def message(delivery: WebhookDelivery, now: datetime) -> OutgoingMessage:
    """Return what is sent. The id is the same in all tries and replays of an event."""
    event = stream.as_row(delivery.event)
    webhook = delivery.webhook
    document = (
        chat_message(event, webhook.site)
        if webhook.receiver == WebhookReceiver.DISCORD
        else event.document()
    )
    body = json.dumps(document, separators=(",", ":")).encode()
    seconds = int(now.timestamp())
    headers = signing.headers(webhook.salt, f"evt_{event.number}", seconds, body)
    return OutgoingMessage(webhook.url, headers, body)


def record(
    delivery: WebhookDelivery, result: SendResult, now: datetime, rng: Random
) -> None:
    """Write down how a try ended."""
    with transaction.atomic():
        if result.error:
            _record_failure(delivery, result, now, rng)
        else:
            _record_success(delivery, result, now)


def _record_success(
    delivery: WebhookDelivery, result: SendResult, now: datetime
) -> None:
    _held(delivery).update(
        status=DeliveryStatus.DELIVERED,
        lease_until=None,
        ended_at=now,
        response=result.status,
        error="",
    )
    failing = Webhook.objects.filter(pk=delivery.webhook_id, failures__gt=0)
    was_down = failing.filter(failures__gte=FAILURES_OF_OUTAGE).exists()
    failing.update(failures=0, failing_since=None, retry_at=None)
    if was_down:
        waiting = WebhookDelivery.objects.filter(
            webhook=delivery.webhook_id, status=DeliveryStatus.WAITING
        )
        waiting.update(next_at=now)


def _record_failure(
    delivery: WebhookDelivery, result: SendResult, now: datetime, rng: Random
) -> None:
    is_over = now - delivery.created_at >= TRY_FOR
    _held(delivery).update(
        status=DeliveryStatus.FAILED if is_over else DeliveryStatus.WAITING,
        lease_until=None,
        ended_at=now if is_over else None,
        next_at=now + pause(delivery.tries, MAX_PAUSE_S, rng),
        response=result.status,
        error=result.error[:MAX_TEXT_LENGTH],
    )
    webhooks = Webhook.objects.select_for_update().filter(pk=delivery.webhook_id)
    webhook = webhooks.first()
    if webhook is None:
        return
    failures = webhook.failures + 1
    is_down = failures >= FAILURES_OF_OUTAGE
    wait = pause(failures - FAILURES_OF_OUTAGE + 1, MAX_OUTAGE_PAUSE_S, rng)
    webhooks.update(
        failures=F("failures") + 1,
        failing_since=Coalesce("failing_since", now),
        retry_at=now + wait if is_down else None,
    )
    since = webhook.failing_since or now
    if result.status == GONE:
        webhooks.update(active=False, note=RECEIVER_GONE)
    elif now - since >= SWITCH_OFF_AFTER:
        webhooks.update(active=False, note=SWITCHED_OFF)


def _held(delivery: WebhookDelivery) -> Held[WebhookDelivery]:
    """Return the claim of a try. It ends if the user wants the event sent anew."""
    rows = WebhookDelivery.objects.filter(
        status=DeliveryStatus.WAITING, created_at=delivery.created_at
    )
    return Held(rows, delivery.pk, delivery.fence)


def pause(tries: int, longest_s: float, rng: Random) -> timedelta:
    """Return how long to wait after this number of tries, from 1 on."""
    exponent = min(max(tries, 1) - 1, 30)
    seconds = min(FIRST_PAUSE_S * 2**exponent, longest_s)
    return timedelta(seconds=seconds * rng.uniform(1 - JITTER, 1 + JITTER))
