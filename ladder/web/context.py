"""Values for every page: of the settings of accounts, and of hidden results."""

from django.conf import settings
from django.http import HttpRequest

from ladder.accounts import github
from ladder.accounts.sign_up_mode import SignUpMode
from ladder.extras.practice import guests
from ladder.web.middleware import hidden_results


def accounts(request: HttpRequest) -> dict[str, object]:
    """Return what templates need to link to the sign-up page (a context processor)."""
    return {
        "can_sign_up": settings.TORRES_SIGN_UP != SignUpMode.CLOSED,
        "has_github": github.is_on(),
        "guests_play": guests.are_welcome(),
        "operator_contact": settings.TORRES_CONTACT,
    }


def results(request: HttpRequest) -> dict[str, object]:
    """Tell whether this page hides results, and whether the reader chose that."""
    return {
        "hides_results": hidden_results.are_hidden(request),
        "reader_hides_results": hidden_results.hides(request),
    }
