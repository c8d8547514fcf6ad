from django.apps import AppConfig
from django.core.checks import register

from ladder.ops import deployment


class OpsConfig(AppConfig):
    name = "ladder.ops"

    def ready(self) -> None:
        for check in deployment.CHECKS:
            register(check, deployment.TAG, deploy=True)
