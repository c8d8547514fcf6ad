"""The webhooks of a person, for the page of the own account."""

from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.db.models import Count, Q
from django.utils.translation import gettext, gettext_lazy as _
from django_stubs_ext import StrPromise

from ladder.common.stored_texts import translated
from ladder.events.kinds import EventKind
from ladder.extras.webhooks import services
from ladder.extras.webhooks.models import (
    MAX_URL_LENGTH,
    DeliveryStatus,
    Webhook,
    WebhookDelivery,
    WebhookReceiver,
)
from ladder.extras.webhooks.services import FILTERS, MAX_FILTER_VALUES
from torres.common.errors import LadderError

MAX_SLUG_LENGTH = 64
MAX_NAMES_LENGTH = MAX_FILTER_VALUES * (MAX_SLUG_LENGTH + 2)
FIELD_IDS = "webhook-%s"
MAX_FAILURES = 20
"""The deliveries with an error that the page lists; the REST API lists all."""


class NamesField(forms.CharField):
    """Short names of things, separated by commas or spaces; its value is a list."""

    def __init__(self, label: str | StrPromise, **kwargs: Any) -> None:
        super().__init__(
            required=False,
            max_length=MAX_NAMES_LENGTH,
            label=label,
            widget=forms.TextInput(attrs={"autocomplete": "off"}),
            **kwargs,
        )

    def clean(self, value: Any) -> list[str]:
        text: str = super().clean(value)
        return text.replace(",", " ").split()


class NewWebhookForm(forms.Form):
    """A new webhook. `services.create` checks the values, as for the REST API."""

    url = forms.CharField(
        max_length=MAX_URL_LENGTH,
        label=_("Send events to this URL"),
        help_text=_("http:// or https://, at a public address."),
        widget=forms.TextInput(attrs={"autocomplete": "off", "inputmode": "url"}),
    )
    receiver = forms.ChoiceField(
        label=_("Send them to"),
        choices=[(key, _(label)) for key, label in WebhookReceiver.choices],
        required=False,
        help_text=_("Discord: Edit channel, Integrations, Webhooks, Copy webhook URL."),
    )
    types = forms.MultipleChoiceField(
        required=False,
        label=_("Only these events"),
        help_text=_(
            "Choose some of them. Otherwise every game of the service is sent."
        ),
        choices=[(kind.value, kind.value) for kind in EventKind],
        widget=forms.SelectMultiple(attrs={"size": 6, "translate": "no"}),
    )
    bots = NamesField(
        _("Only these bots"),
        help_text=_("Short names as in addresses, separated by commas."),
    )
    ladders = NamesField(_("Only these ladders"))
    tournaments = NamesField(_("Only these tournaments"))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("auto_id", FIELD_IDS)
        super().__init__(*args, **kwargs)

    def clean_receiver(self) -> str:
        return self.cleaned_data["receiver"] or WebhookReceiver.PROGRAM

    def create(self, user: User, site: str) -> Webhook | None:
        """Create the webhook of a valid form; None if a field has got an error."""
        try:
            return services.create(user, self.cleaned_data, site)
        except LadderError as refusal:
            self.add_error(None, translated(str(refusal)))
            return None


def own_webhooks(user: User) -> dict[str, object]:
    """Return what the page shows of the webhooks of a user, newest first.

    `webhooks` are these with what they want in words, and `undelivered` the latest
    deliveries with an error. One may be tried again; then its status is `waiting`.
    """
    gone = Count("deliveries", filter=Q(deliveries__status=DeliveryStatus.FAILED))
    webhooks = user.webhooks.annotate(failed=gone).order_by("-pk")
    rows = [(each, wants_in_words(each)) for each in webhooks]
    undelivered = WebhookDelivery.objects.filter(
        webhook__in=[webhook for webhook, _ in rows],
        status__in=(DeliveryStatus.WAITING, DeliveryStatus.FAILED),
    ).exclude(error="")
    newest = undelivered.select_related("webhook", "event").order_by("-pk")
    return {"webhooks": rows, "undelivered": newest[:MAX_FAILURES]}


def wants_in_words(webhook: Webhook) -> str:
    """Return which events a webhook gets, for a person."""
    shown = (
        [gettext("messages for Discord")]
        if webhook.receiver == WebhookReceiver.DISCORD
        else []
    )
    chosen = [
        f"{name}: {', '.join(getattr(webhook, name))}"
        for name in FILTERS
        if getattr(webhook, name)
    ]
    return "; ".join([*shown, *(chosen or [gettext("all events")])])
