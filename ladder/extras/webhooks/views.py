"""The REST views of webhooks. Each user sees only the own ones."""

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.urls import reverse
from drf_spectacular.utils import OpenApiExample, extend_schema, extend_schema_view
from rest_framework import status
from rest_framework.generics import GenericAPIView, ListAPIView, get_object_or_404
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from ladder.accounts.idempotency import once_by_key
from ladder.accounts.roles import person
from ladder.common.http import valid_body
from ladder.extras.webhooks import services, signing
from ladder.extras.webhooks.models import Webhook, WebhookDelivery
from ladder.extras.webhooks.serializers import (
    NewWebhookSerializer,
    ReplayedSerializer,
    WebhookChangesSerializer,
    WebhookDeliverySerializer,
    WebhookReplaySerializer,
    WebhookSerializer,
    WebhookWithSecretSerializer,
)

_CHOSEN = {
    "url": "https://example.org/torres",
    "receiver": "program",
    "types": ["game.finished", "submission.ready"],
    "bots": ["my-bot"],
    "ladders": [],
    "tournaments": [],
}
_SHOWN = {
    "id": 7,
    **_CHOSEN,
    "active": True,
    "note": "",
    "cursor": 4711,
    "failures": 0,
    "failing_since": None,
    "retry_at": None,
    "created_at": "2026-11-23T18:00:00.123456Z",
}
_SECRET = "whsec_" + "A" * 43 + "="  # no webhook has it
_DELIVERY = {
    "id": 93,
    "event": 4711,
    "type": "game.finished",
    "status": "waiting",
    "tries": 2,
    "created_at": "2026-11-23T18:00:01.123456Z",
    "next_at": "2026-11-23T18:00:16.123456Z",
    "ended_at": None,
    "response": 503,
    "error": "The receiver answered 503.",
}
CHOSEN = OpenApiExample(
    "the games and uploads of one bot",
    {name: value for name, value in _CHOSEN.items() if value},
    request_only=True,
)
SWITCH = OpenApiExample("switch it on", {"active": True}, request_only=True)
MISSED = OpenApiExample(
    "everything after event 4711", {"after": 4711}, request_only=True
)
WEBHOOK = OpenApiExample("a webhook", _SHOWN, response_only=True)
CREATED = OpenApiExample(
    "a webhook",
    {"webhook": _SHOWN, "secret": _SECRET},
    response_only=True,
    status_codes=["200", "201"],
)
FIRST = OpenApiExample(
    "where it begins", {"first": 4712}, response_only=True, status_codes=["202"]
)
TESTED = OpenApiExample("a webhook", _SHOWN, response_only=True, status_codes=["202"])
DELIVERY = OpenApiExample("a delivery", _DELIVERY, response_only=True)
AGAIN = OpenApiExample(
    "a delivery",
    _DELIVERY | {"tries": 0, "response": None, "error": ""},
    response_only=True,
    status_codes=["202"],
)


def _with_secret(webhook: Webhook) -> dict[str, object]:
    secret = signing.secret_of(webhook.salt)
    shown = {"webhook": webhook, "secret": secret}
    return dict(WebhookWithSecretSerializer(shown).data)


class _OwnWebhooks(GenericAPIView[Webhook]):
    queryset = Webhook.objects.all()
    serializer_class = WebhookSerializer
    permission_classes = [IsAuthenticated]

    def get_queryset(self) -> QuerySet[Webhook]:
        user = self.request.user
        key = user.pk if isinstance(user, User) else None
        return Webhook.objects.filter(user=key)


@extend_schema_view(get=extend_schema(examples=[WEBHOOK]))
class WebhookList(_OwnWebhooks, ListAPIView[Webhook]):
    """Your webhooks, newest first. POST creates one and returns its secret, once.

    Events are sent to the URL as HTTP POST, signed after Standard Webhooks, until the
    receiver answers with a status of 2xx, for a day. docs/events.md explains it.
    """

    secret_response = True

    @extend_schema(
        request=NewWebhookSerializer,
        responses={201: WebhookWithSecretSerializer},
        examples=[CHOSEN, CREATED],
    )
    @once_by_key
    def post(self, request: Request) -> Response:
        body = valid_body(request, NewWebhookSerializer)
        site = request.build_absolute_uri("/")
        webhook = services.create(person(request), body, site)
        headers = {"Location": reverse("api:webhook", args=[webhook.pk])}
        return Response(_with_secret(webhook), status.HTTP_201_CREATED, headers=headers)


class WebhookDetail(_OwnWebhooks):
    """One of your webhooks. PATCH changes it, DELETE deletes it at once."""

    @extend_schema(examples=[WEBHOOK])
    def get(self, _request: Request, **_: int) -> Response:
        return Response(WebhookSerializer(self.get_object()).data)

    @extend_schema(
        request=WebhookChangesSerializer,
        responses=WebhookSerializer,
        examples=[SWITCH, WEBHOOK],
    )
    def patch(self, request: Request, **_: int) -> Response:
        webhook = self.get_object()
        body = valid_body(request, WebhookChangesSerializer)
        services.edit(webhook, body)
        return Response(WebhookSerializer(webhook).data)

    @extend_schema(responses={204: None})
    def delete(self, _request: Request, **_: int) -> Response:
        services.delete(self.get_object())
        return Response(status=status.HTTP_204_NO_CONTENT)


class WebhookSecret(_OwnWebhooks):
    """Replace the secret of a webhook. The old one is void at once."""

    @extend_schema(
        request=None, responses=WebhookWithSecretSerializer, examples=[CREATED]
    )
    def post(self, _request: Request, **_: int) -> Response:
        webhook = self.get_object()
        services.new_secret(webhook)
        return Response(_with_secret(webhook))


class WebhookTest(_OwnWebhooks):
    """Send an event `webhook.test` to a webhook, whatever its filters are."""

    @extend_schema(request=None, responses={202: WebhookSerializer}, examples=[TESTED])
    def post(self, _request: Request, **_: int) -> Response:
        webhook = self.get_object()
        services.send_test(webhook)
        return Response(WebhookSerializer(webhook).data, status.HTTP_202_ACCEPTED)


class WebhookReplay(_OwnWebhooks):
    """Send all events again that come after a number, as far as they are stored."""

    @extend_schema(
        request=WebhookReplaySerializer,
        responses={202: ReplayedSerializer},
        examples=[MISSED, FIRST],
    )
    def post(self, request: Request, **_: int) -> Response:
        webhook = self.get_object()
        body = valid_body(request, WebhookReplaySerializer)
        first = services.replay(webhook, body["after"])
        return Response({"first": first}, status.HTTP_202_ACCEPTED)


@extend_schema_view(get=extend_schema(examples=[DELIVERY]))
class WebhookDeliveries(ListAPIView[WebhookDelivery]):
    """The deliveries of a webhook, newest first. They are deleted with their events."""

    queryset = WebhookDelivery.objects.all()
    serializer_class = WebhookDeliverySerializer
    permission_classes = [IsAuthenticated]

    def get_queryset(self) -> QuerySet[WebhookDelivery]:
        if not isinstance(self.request.user, User):
            return WebhookDelivery.objects.none()
        own = Webhook.objects.filter(user=self.request.user)
        webhook = get_object_or_404(own, pk=self.kwargs["pk"])
        rows = WebhookDelivery.objects.filter(webhook=webhook)
        return rows.select_related("event").order_by("-id")


class WebhookDeliveryReplay(_OwnWebhooks):
    """Send one event to a webhook again."""

    @extend_schema(
        request=None, responses={202: WebhookDeliverySerializer}, examples=[AGAIN]
    )
    def post(self, _request: Request, delivery: int, **_: int) -> Response:
        rows = WebhookDelivery.objects.filter(webhook=self.get_object())
        row = get_object_or_404(rows.select_related("event", "webhook"), pk=delivery)
        services.replay_delivery(row)
        body = WebhookDeliverySerializer(row).data
        return Response(body, status.HTTP_202_ACCEPTED)
