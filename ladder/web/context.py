"""Values of the settings of accounts, for every page."""

from django.conf import settings
from django.http import HttpRequest

from ladder.accounts import github
from ladder.accounts.sign_up_mode import SignUpMode
from ladder.extras.practice import guests


def accounts(request: HttpRequest) -> dict[str, object]:
    """Return what templates need to link to the sign-up page (a context processor)."""
    return {
        "can_sign_up": settings.TORRES_SIGN_UP != SignUpMode.CLOSED,
        "has_github": github.is_on(),
        "guests_play": guests.are_welcome(),
        "operator_contact": settings.TORRES_CONTACT,
    }
