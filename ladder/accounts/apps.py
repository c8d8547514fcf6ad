from django.apps import AppConfig
from django.core.checks import register

from ladder.accounts import checks


class AccountsConfig(AppConfig):
    name = "ladder.accounts"

    def ready(self) -> None:
        register(checks.check_sign_up, checks.TAG)
        register(checks.check_sender, checks.TAG)
        register(checks.check_github, checks.TAG)
