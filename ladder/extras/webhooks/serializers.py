"""The JSON of webhooks in the REST API."""

from typing import Any

from rest_framework import serializers

from ladder.events.kinds import EventKind
from ladder.extras.webhooks.models import (
    MAX_URL_LENGTH,
    DeliveryStatus,
    Webhook,
    WebhookDelivery,
    WebhookReceiver,
)
from ladder.extras.webhooks.services import MAX_FILTER_VALUES

MAX_NUMBER = 2**63 - 2


def _slugs(what: str) -> serializers.ListField:
    return serializers.ListField(
        child=serializers.SlugField(max_length=64),
        max_length=MAX_FILTER_VALUES,
        required=False,
        help_text=f"Only events that name one of these {what}. Empty: all.",
    )


class WebhookChangesSerializer(serializers.Serializer[Any]):
    """The fields that an owner sets.

    An event must pass all filters that are not empty.
    """

    url = serializers.CharField(
        max_length=MAX_URL_LENGTH,
        required=False,
        help_text="http:// or https://, at a public address.",
    )
    receiver = serializers.ChoiceField(
        choices=WebhookReceiver.choices,
        required=False,
        help_text="`discord` sends messages for a channel of Discord.",
    )
    types = serializers.ListField(
        child=serializers.CharField(max_length=40),
        max_length=len(EventKind),
        required=False,
        help_text="Types of events. Empty: all.",
    )
    bots = _slugs("bots")
    ladders = _slugs("ladders")
    tournaments = _slugs("tournaments")
    active = serializers.BooleanField(required=False)


class NewWebhookSerializer(WebhookChangesSerializer):
    """A new webhook."""

    url = serializers.CharField(
        max_length=MAX_URL_LENGTH, help_text="http:// or https://, at a public address."
    )


class WebhookSerializer(serializers.ModelSerializer[Webhook]):
    """A webhook. `failures` counts the tries that failed since the last success.

    `cursor` is the number of the last event that was examined for it. `note` says why
    the service switched it off.
    """

    types = serializers.ListField(child=serializers.CharField(), read_only=True)
    bots = serializers.ListField(child=serializers.CharField(), read_only=True)
    ladders = serializers.ListField(child=serializers.CharField(), read_only=True)
    tournaments = serializers.ListField(child=serializers.CharField(), read_only=True)

    class Meta:
        model = Webhook
        fields = [
            "id",
            "url",
            "receiver",
            "types",
            "bots",
            "ladders",
            "tournaments",
            "active",
            "note",
            "cursor",
            "failures",
            "failing_since",
            "retry_at",
            "created_at",
        ]
        read_only_fields = fields


class WebhookWithSecretSerializer(serializers.Serializer[Any]):
    """A webhook with its secret, which is shown only now."""

    webhook = WebhookSerializer()
    secret = serializers.CharField()


class WebhookDeliverySerializer(serializers.ModelSerializer[WebhookDelivery]):
    """One event for a webhook. `event` is its number, `response` an HTTP status."""

    event = serializers.IntegerField(source="event_id", read_only=True)
    type = serializers.CharField(source="event.kind", read_only=True)
    status = serializers.ChoiceField(choices=DeliveryStatus.choices, read_only=True)
    next_at = serializers.SerializerMethodField()

    class Meta:
        model = WebhookDelivery
        fields = [
            "id",
            "event",
            "type",
            "status",
            "tries",
            "created_at",
            "next_at",
            "ended_at",
            "response",
            "error",
        ]
        read_only_fields = fields

    def get_next_at(self, delivery: WebhookDelivery) -> str | None:
        """Return the moment of the next try; null if there is none."""
        if delivery.status != DeliveryStatus.WAITING:
            return None
        return serializers.DateTimeField().to_representation(delivery.next_at)


class WebhookReplaySerializer(serializers.Serializer[Any]):
    """All events with a number above `after` are sent again."""

    after = serializers.IntegerField(min_value=0, max_value=MAX_NUMBER)


class ReplayedSerializer(serializers.Serializer[Any]):
    """The number of the first event that can be sent again."""

    first = serializers.IntegerField()
