"""Query parameters of pages."""

from django.conf import settings
from django.http import HttpRequest
from django.utils.http import url_has_allowed_host_and_scheme


def number(request: HttpRequest, name: str) -> int | None:
    """Return a query parameter as a number; None if it is missing or not a number."""
    text = request.GET.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 12 else None


def destination(request: HttpRequest) -> str:
    """Return the page that the visitor wanted, if it belongs to this site."""
    target = request.GET.get("next", "")
    hosts = {request.get_host()}
    if url_has_allowed_host_and_scheme(
        target, hosts, require_https=request.is_secure()
    ):
        return target
    return settings.LOGIN_REDIRECT_URL
