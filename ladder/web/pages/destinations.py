"""The page that a visitor sees after signing in."""

from django.conf import settings
from django.http import HttpRequest
from django.utils.http import url_has_allowed_host_and_scheme


def destination(request: HttpRequest) -> str:
    """Return the page that the visitor wanted, if it belongs to this site."""
    target = request.GET.get("next", "")
    hosts = {request.get_host()}
    if url_has_allowed_host_and_scheme(
        target, hosts, require_https=request.is_secure()
    ):
        return target
    return settings.LOGIN_REDIRECT_URL
