"""Owners' actions on their webhooks: create, edit, test and replay.

The REST API and the pages call these functions, so that both check the same.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from ladder.bots.models import Bot
from ladder.common.rate_limits import wait_s
from ladder.events import outbox, stream
from ladder.events.kinds import EventKind
from ladder.events.outbox import NewEvent
from ladder.extras.webhooks import signing
from ladder.extras.webhooks.addresses import BadWebhook, check_url
from ladder.extras.webhooks.models import DeliveryStatus, Webhook, WebhookDelivery
from ladder.ratings.models import Ladder
from ladder.tournaments import visibility as tournaments
from torres.common.errors import TooMany
from torres.common.quoting import quoted

MAX_FILTER_VALUES = 50
FILTERS = ("types", "bots", "ladders", "tournaments")
EDITABLE = frozenset({"url", "receiver", "active", *FILTERS})


def create(user: User, values: Mapping[str, Any], site: str) -> Webhook:
    """Create a webhook, which gets the events from now on.

    ``values`` are some of EDITABLE; ``site`` is the address of the service. Raises
    BadWebhook, and TooMany if the quota of the user is used up.
    """
    checked = _checked(values)
    cursor = stream.newest()
    with transaction.atomic():
        # The lock makes the quota exact if one user creates two webhooks at once.
        User.objects.select_for_update().get(pk=user.pk)
        limit = settings.TORRES_WEBHOOKS_PER_USER
        if user.webhooks.count() >= limit:
            raise TooMany(
                f"You have {limit} webhooks, the most that one person may have. Delete"
                " one of them first."
            )
        return Webhook.objects.create(
            user=user, site=site, salt=signing.new_salt(), cursor=cursor, **checked
        )


def edit(webhook: Webhook, values: Mapping[str, Any]) -> None:
    """Change a webhook. Raises BadWebhook; then nothing has changed.

    A webhook that is switched on again gets the events from now on. `replay` sends
    those that it missed.
    """
    changes = _checked(values)
    if changes.get("active") and not webhook.active:
        check_url(changes.get("url", webhook.url))
        changes |= {
            "cursor": stream.newest(),
            "failures": 0,
            "failing_since": None,
            "retry_at": None,
            "note": "",
        }
    if "url" in changes:
        changes["retry_at"] = None
    if changes:
        Webhook.objects.filter(pk=webhook.pk).update(**changes)
    webhook.refresh_from_db()


def delete(webhook: Webhook) -> None:
    """Delete a webhook with its deliveries."""
    webhook.delete()


def switch_off(webhook: Webhook, note: str) -> None:
    """Send nothing more to a webhook. Its owner may switch it on again."""
    Webhook.objects.filter(pk=webhook.pk).update(active=False, note=note)


def new_secret(webhook: Webhook) -> str:
    """Return a new secret. The old one is void at once."""
    salt = signing.new_salt()
    Webhook.objects.filter(pk=webhook.pk).update(salt=salt)
    webhook.salt = salt
    return signing.secret_of(salt)


def send_test(webhook: Webhook) -> None:
    """Send an event `webhook.test` to this webhook only.

    Raises BadWebhook if it is switched off, and TooMany.
    """
    _check_rate(webhook)
    _check_active(webhook)
    with transaction.atomic():
        data = {
            "webhook": webhook.pk,
            "text": "This is a test.",
            "url": f"{outbox.API}webhooks/{webhook.pk}/",
        }
        owners = [webhook.user_id]
        outbox.record(NewEvent(EventKind.WEBHOOK_TEST, data, False, owners))


def replay(webhook: Webhook, after: int) -> int:
    """Send all events again that the webhook wants, with a number above ``after``.

    Return the number of the first event that is still stored. Raises BadWebhook if the
    webhook is switched off, and TooMany.
    """
    _check_rate(webhook)
    _check_active(webhook)
    first = max(after + 1, stream.oldest())
    # Back only: a higher number would skip events.
    Webhook.objects.filter(pk=webhook.pk, cursor__gt=first - 1).update(cursor=first - 1)
    webhook.refresh_from_db()
    return first


def replay_delivery(delivery: WebhookDelivery) -> None:
    """Send one event again, and try it for a day. Raises BadWebhook and TooMany."""
    _check_rate(delivery.webhook)
    _check_active(delivery.webhook)
    now = timezone.now()
    WebhookDelivery.objects.filter(pk=delivery.pk).update(
        status=DeliveryStatus.WAITING,
        tries=0,
        created_at=now,
        next_at=now,
        lease_until=None,
        ended_at=None,
        response=None,
        error="",
    )
    delivery.refresh_from_db()


def _check_rate(webhook: Webhook) -> None:
    if seconds := wait_s("webhook", str(webhook.user_id)):
        raise TooMany(
            f"Too many tests and replays. Try again in {seconds} seconds.",
            retry_after=seconds,
        )


def _check_active(webhook: Webhook) -> None:
    if not webhook.active:
        raise BadWebhook("The webhook is switched off. Set `active` to true first.")


def _checked(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values in the form in which they are stored. Raises BadWebhook."""
    checked = dict(values)
    for name in set(FILTERS) & checked.keys():
        checked[name] = list(dict.fromkeys(checked[name]))
        if len(checked[name]) > MAX_FILTER_VALUES:
            raise BadWebhook(f"Give at most {MAX_FILTER_VALUES} {name}.")
    _check_known("event type", checked.get("types", ()), list(EventKind))
    bots = checked.get("bots", ())
    _check_known("bot", bots, _slugs(Bot.objects.all(), bots))
    ladders = checked.get("ladders", ())
    _check_known("ladder", ladders, _slugs(Ladder.objects.all(), ladders))
    cups = checked.get("tournaments", ())
    _check_known("tournament", cups, _slugs(tournaments.tournaments(), cups))
    if "url" in checked:
        check_url(checked["url"])
    return checked


def _slugs(rows: Any, wanted: Sequence[str]) -> Collection[str]:  # noqa: ANN401
    found = rows.filter(slug__in=wanted) if wanted else rows.none()
    return set(found.values_list("slug", flat=True))


def _check_known(what: str, wanted: Sequence[str], known: Collection[str]) -> None:
    for name in wanted:
        if name not in known:
            raise BadWebhook(f"There is no {what} {quoted(name)}.")
