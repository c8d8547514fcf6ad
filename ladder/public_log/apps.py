from django.apps import AppConfig


class PublicLogConfig(AppConfig):
    name = "ladder.public_log"
