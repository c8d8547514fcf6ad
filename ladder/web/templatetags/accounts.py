"""The template tag for links to pages of accounts."""

from typing import Any

from django.conf import settings
from django.template import Library

from ladder.web import destinations

register = Library()


@register.simple_tag(takes_context=True)
def account_url(context: dict[str, Any], name: str) -> str:
    """Return the address of a page of accounts, which leads back to this page."""
    request = context.get("request")
    if request is None:  # the page of an error that may be in the request itself
        return destinations.address_of(name, settings.LOGIN_REDIRECT_URL)
    return destinations.account_url(request, name)
