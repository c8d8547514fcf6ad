from django.apps import AppConfig


class WebhooksConfig(AppConfig):
    name = "ladder.extras.webhooks"
