from django.apps import AppConfig
from django.core.checks import register

from ladder.common.commands import SERVICE_CHECKS
from ladder.health import checks


class HealthConfig(AppConfig):
    name = "ladder.health"

    def ready(self) -> None:
        for check in (checks.check_token, checks.check_addresses, checks.check_mail):
            register(check, SERVICE_CHECKS)
