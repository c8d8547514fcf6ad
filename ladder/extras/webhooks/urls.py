"""The routes of the REST API for webhooks, below /api/v1/."""

from ladder.common.http import routes
from ladder.extras.webhooks import views

_WEBHOOK = "webhooks/<int:pk>/"

urlpatterns = routes(
    [
        ("webhooks/", views.WebhookList, "webhooks"),
        (_WEBHOOK, views.WebhookDetail, "webhook"),
        (f"{_WEBHOOK}secret/", views.WebhookSecret, "webhook-secret"),
        (f"{_WEBHOOK}test/", views.WebhookTest, "webhook-test"),
        (f"{_WEBHOOK}replay/", views.WebhookReplay, "webhook-replay"),
        (f"{_WEBHOOK}deliveries/", views.WebhookDeliveries, "webhook-deliveries"),
        (
            f"{_WEBHOOK}deliveries/<int:delivery>/replay/",
            views.WebhookDeliveryReplay,
            "webhook-delivery-replay",
        ),
    ]
)
