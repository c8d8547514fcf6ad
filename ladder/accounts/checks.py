"""Checks of the settings of accounts. A service with a wrong one does not start."""

from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error
from django.core.exceptions import ValidationError
from django.core.validators import validate_email

SHOWN_CHARS = 80


def check_sender(**_: object) -> list[CheckMessage]:
    """Refuse a sender that no mail server accepts, if the service sends mail."""
    sender = settings.DEFAULT_FROM_EMAIL
    if not settings.TORRES_SENDS_MAIL:
        return []
    try:
        validate_email(sender)
    except ValidationError:
        return [
            Error(
                f"TORRES_EMAIL_FROM is {sender[:SHOWN_CHARS]!r}, which is no address.",
                hint="Set it to the address that sends the mail of the service, for"
                " example ladder@example.org.",
                id="accounts.E002",
            )
        ]
    return []


def check_github(**_: object) -> list[CheckMessage]:
    """Refuse half of a configuration, and an address without TLS."""
    client, secret = settings.TORRES_GITHUB_CLIENT, settings.TORRES_GITHUB_SECRET
    if bool(client) != bool(secret):
        return [
            Error(
                "Only one of TORRES_GITHUB_CLIENT and TORRES_GITHUB_SECRET is set.",
                hint="Set both to the values of your OAuth app, or leave out both.",
                id="accounts.E003",
            )
        ]
    url = urlsplit(settings.TORRES_GITHUB_URL)
    if url.scheme == "https" and url.hostname:
        return []
    return [
        Error(
            f"TORRES_GITHUB_URL is {settings.TORRES_GITHUB_URL[:SHOWN_CHARS]!r}, which"
            " is no address with https.",
            hint="Leave it out, or set it to a GitHub Enterprise Server, for example"
            " https://git.example.org.",
            id="accounts.E004",
        )
    ]
