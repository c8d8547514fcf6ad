"""The routes of the REST API for webhooks, below /api/v1/."""

from django.urls import path

from ladder.extras.webhooks import views

_WEBHOOK = "webhooks/<int:pk>/"

urlpatterns = [
    path("webhooks/", views.WebhookList.as_view(), name="webhooks"),
    path(_WEBHOOK, views.WebhookDetail.as_view(), name="webhook"),
    path(f"{_WEBHOOK}secret/", views.WebhookSecret.as_view(), name="webhook-secret"),
    path(f"{_WEBHOOK}test/", views.WebhookTest.as_view(), name="webhook-test"),
    path(f"{_WEBHOOK}replay/", views.WebhookReplay.as_view(), name="webhook-replay"),
    path(
        f"{_WEBHOOK}deliveries/",
        views.WebhookDeliveries.as_view(),
        name="webhook-deliveries",
    ),
    path(
        f"{_WEBHOOK}deliveries/<int:delivery>/replay/",
        views.WebhookDeliveryReplay.as_view(),
        name="webhook-delivery-replay",
    ),
]
