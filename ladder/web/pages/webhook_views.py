"""The actions on webhooks of the page of the own account."""

from typing import NamedTuple

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect

from ladder.extras.webhooks import services, signing
from ladder.extras.webhooks.models import Webhook
from ladder.web.pages.account_views import AccountPage, SignedInView
from ladder.web.pages.webhook_pages import NewWebhookForm


class NewSecret(NamedTuple):
    """The secret of a new webhook, which the page shows once."""

    url: str
    text: str


class CreateWebhookAction(AccountPage):
    """Create a webhook and show its secret once."""

    def post(self, request: HttpRequest) -> HttpResponse:
        form = NewWebhookForm(request.POST)
        site = request.build_absolute_uri("/")
        webhook = form.create(self.person(), site) if form.is_valid() else None
        if webhook is None:
            return self.page(422, new_webhook=form)
        secret = NewSecret(webhook.url, signing.secret_of(webhook.salt))
        return self.page(webhook_secret=secret)


class DeleteWebhookAction(SignedInView):
    """Delete an own webhook. Nothing more is sent to it."""

    def post(self, request: HttpRequest, pk: int) -> HttpResponse:
        webhook = get_object_or_404(Webhook, user=self.person(), pk=pk)
        services.delete(webhook)
        return redirect("me")
