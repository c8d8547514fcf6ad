from django.apps import AppConfig


class SelfAuditConfig(AppConfig):
    name = "ladder.extras.self_audit"
