from django.apps import AppConfig
from django.core.checks import register

from ladder.accounts import checks
from ladder.common.commands import SERVICE_CHECKS


class AccountsConfig(AppConfig):
    name = "ladder.accounts"

    def ready(self) -> None:
        register(checks.check_sender, SERVICE_CHECKS)
        register(checks.check_github, SERVICE_CHECKS)
