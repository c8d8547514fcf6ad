"""The retention rule of deliveries: they are deleted as events are."""

from datetime import timedelta

from django.conf import settings
from django.db.models import QuerySet
from django.db.models.functions import Now

from ladder.common.retention import RetentionRule, rule_for_rows
from ladder.extras.webhooks.models import DeliveryStatus, WebhookDelivery


def rules() -> list[RetentionRule]:
    return [
        rule_for_rows(
            "deliveries of webhooks",
            "TORRES_KEEP_EVENTS_DAYS",
            WebhookDelivery.objects.all,
            _due,
        )
    ]


def _due() -> QuerySet[WebhookDelivery]:
    keep = timedelta(days=settings.TORRES_KEEP_EVENTS_DAYS)
    ended = WebhookDelivery.objects.exclude(status=DeliveryStatus.WAITING)
    return ended.filter(created_at__lt=Now() - keep)
