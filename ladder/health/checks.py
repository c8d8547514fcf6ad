"""Checks of the settings of metrics and alarms.

A service with a wrong one does not start.
"""

from collections.abc import Iterator
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error
from django.core.exceptions import ValidationError
from django.core.validators import validate_email

MIN_TOKEN_CHARS = 16
SHOWN_CHARS = 80


def check_token(**_: object) -> Iterator[CheckMessage]:
    """Refuse a token that can be guessed, or that no header can hold."""
    token = settings.TORRES_METRICS_TOKEN
    is_safe = len(token) >= MIN_TOKEN_CHARS and token.isascii() and token.isprintable()
    if token and (not is_safe or " " in token):
        yield Error(
            "TORRES_METRICS_TOKEN can be guessed, or is no token.",
            hint=f"Use {MIN_TOKEN_CHARS} or more random letters and digits, for"
            " example the output of `openssl rand -hex 24`.",
            id="health.E001",
        )


def check_addresses(**_: object) -> Iterator[CheckMessage]:
    """Refuse addresses that are not URLs of HTTP."""
    named = [("TORRES_ALARM_URL", settings.TORRES_ALARM_URL)]
    named += [("TORRES_MONITOR_WEB", each) for each in settings.TORRES_MONITOR_WEB]
    for name, address in named:
        if address and not _is_http(address):
            yield Error(
                # The URL of a chat service is a secret.
                f"{name} is not the address of a server.",
                hint="Write an address with its scheme, such as"
                " https://alarm.example.org.",
                id="health.E002",
            )


def check_mail(**_: object) -> Iterator[CheckMessage]:
    """Refuse addresses for alarms that no mail can reach."""
    for each in settings.TORRES_ALARM_MAIL:
        if not _is_mailbox(each):
            yield Error(
                f"TORRES_ALARM_MAIL contains {each[:SHOWN_CHARS]!r}, which is no"
                " address.",
                hint="Write addresses such as ops@example.org, separated by commas.",
                id="health.E003",
            )
    if settings.TORRES_ALARM_MAIL and not settings.TORRES_SENDS_MAIL:
        yield Error(
            "TORRES_ALARM_MAIL is set, but the service sends no mail.",
            hint="Set TORRES_EMAIL_URL and TORRES_EMAIL_FROM, too.",
            id="health.E004",
        )


def _is_http(address: str) -> bool:
    try:
        parts = urlsplit(address)
        return parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        return False


def _is_mailbox(text: str) -> bool:
    try:
        validate_email(text)
    except ValidationError:
        return False
    return True
