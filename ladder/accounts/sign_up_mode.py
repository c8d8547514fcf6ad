"""The setting that says who may sign up."""

from enum import StrEnum

from django.conf import settings


class SignUpMode(StrEnum):
    """The values of TORRES_SIGN_UP."""

    OPEN = "open"
    INVITATION = "invitation"
    CLOSED = "closed"


def current_mode() -> SignUpMode:
    """Return who may sign up. Raises ValueError for a value that `checks` refuses."""
    return SignUpMode(settings.TORRES_SIGN_UP)
