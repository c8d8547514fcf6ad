"""The page of the own webhooks, and its actions."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from ladder.extras.webhooks import services, signing
from ladder.extras.webhooks.models import Webhook
from ladder.web.pages.account_views import SignedInView
from ladder.web.pages.webhook_pages import NewWebhookForm, own_webhooks


class WebhooksPage(SignedInView):
    """The own webhooks. POST creates one, and the page shows its secret once."""

    def get(self, request: HttpRequest) -> HttpResponse:
        return self.page()

    def post(self, request: HttpRequest) -> HttpResponse:
        form = NewWebhookForm(request.POST)
        site = request.build_absolute_uri("/")
        webhook = form.create(self.person(), site) if form.is_valid() else None
        if webhook is None:
            return self.page(422, new_webhook=form)
        secret = signing.secret_of(webhook.salt)
        return self.page(new=webhook, secret=secret)

    def page(self, status: int = 200, **parts: object) -> HttpResponse:
        """Render the page. `parts` are a form with errors, or a secret to be shown."""
        context = own_webhooks(self.person()) | {"new_webhook": NewWebhookForm()}
        return render(self.request, "web/webhooks.html", context | parts, status=status)


class DeleteWebhookAction(SignedInView):
    """Delete an own webhook. Nothing more is sent to it."""

    def post(self, request: HttpRequest, pk: int) -> HttpResponse:
        webhook = get_object_or_404(Webhook, user=self.person(), pk=pk)
        services.delete(webhook)
        return redirect("webhooks")
