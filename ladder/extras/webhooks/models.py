"""Webhooks of users, and the deliveries of events to them."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from ladder.common.leases import Leased
from ladder.events.models import Fact

MAX_URL_LENGTH = 500
MAX_TEXT_LENGTH = 200


class WebhookReceiver(models.TextChoices):
    """The kind of receiver, which decides about the form of what is sent."""

    PROGRAM = "program", "Your own program: events as JSON, signed"
    DISCORD = "discord", "A channel of Discord: messages"


class Webhook(models.Model):
    """An address to which events are sent. Each empty list means: no such filter.

    `site` is the address of the service as its owner sees it, for links in messages.

    `cursor` is the number of the last event that was examined. `failures` counts the
    tries that failed since the last success; the first of them was at `failing_since`.
    """

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="webhooks"
    )
    url = models.CharField(max_length=MAX_URL_LENGTH)
    receiver = models.CharField(
        max_length=10,
        choices=WebhookReceiver.choices,
        default=WebhookReceiver.PROGRAM,
        db_default=WebhookReceiver.PROGRAM,
    )
    site = models.CharField(max_length=MAX_URL_LENGTH, blank=True, db_default="")
    types = models.JSONField(default=list)
    bots = models.JSONField(default=list, help_text="Slugs.")
    ladders = models.JSONField(default=list, help_text="Slugs.")
    tournaments = models.JSONField(default=list, help_text="Slugs.")
    # With the key of the service this gives the secret (`signing`).
    salt = models.CharField(max_length=32, editable=False)
    active = models.BooleanField(default=True)
    note = models.CharField(
        max_length=MAX_TEXT_LENGTH, blank=True, help_text="Why it was switched off."
    )
    cursor = models.BigIntegerField(default=0)
    failures = models.PositiveIntegerField(default=0)
    failing_since = models.DateTimeField(null=True, blank=True)
    retry_at = models.DateTimeField(
        null=True, blank=True, help_text="Nothing is sent before this moment."
    )
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        indexes = [
            models.Index(
                fields=["cursor"], condition=Q(active=True), name="webhook_active"
            )
        ]

    def __str__(self) -> str:
        return f"webhook {self.pk}"


class DeliveryStatus(models.TextChoices):
    WAITING = "waiting"
    DELIVERED = "delivered"
    FAILED = "failed", "failed: no try of a day succeeded"


class WebhookDelivery(Leased):
    """One event for one webhook. A sender takes it for one try."""

    webhook = models.ForeignKey(Webhook, models.CASCADE, related_name="deliveries")
    event = models.ForeignKey(Fact, models.CASCADE, to_field="number", related_name="+")
    status = models.CharField(
        max_length=10, choices=DeliveryStatus.choices, default=DeliveryStatus.WAITING
    )
    tries = models.PositiveSmallIntegerField(default=0)
    created_at = models.DateTimeField()
    next_at = models.DateTimeField(help_text="The next try.")
    ended_at = models.DateTimeField(null=True, blank=True)
    response = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="The status of the last answer."
    )
    error = models.CharField(max_length=MAX_TEXT_LENGTH, blank=True)

    class Meta:
        verbose_name_plural = "webhook deliveries"
        constraints = [
            models.UniqueConstraint(
                fields=["webhook", "event"], name="one_delivery_per_webhook_and_event"
            )
        ]
        indexes = [
            models.Index(fields=["status", "next_at"], name="delivery_due"),
            models.Index(fields=["webhook", "status"], name="delivery_of_webhook"),
        ]

    def __str__(self) -> str:
        return f"event {self.event_id} for {self.webhook_id}"
