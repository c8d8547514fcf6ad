"""The page that a person wanted before signing in, up or out: the parameter `next`.

Every link between pages of accounts carries it, also in mail, and every page that
follows it reads it with `destination`.
"""

from urllib.parse import urlencode, urlsplit, urlunsplit

from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.http import HttpRequest
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme

ACCOUNT_PAGES = (
    "sign-in",
    "github",
    "github-callback",
    "sign-out",
    "sign-up",
    "confirm-email",
    "password-reset",
    "password-reset-sent",
    "password-reset-confirm",
)
"""The names of the routes that lead a person on to the wanted page."""
MAX_CHARS = 500  # of a destination, because links in mail carry it


def destination(request: HttpRequest) -> str:
    """Return the path of the page that the visitor wanted.

    It is the page of the account if `next` is missing, too long, or not a path of this
    site.
    """
    target = request.GET.get("next", "")
    is_path = target.startswith("/") and len(target) <= MAX_CHARS
    if is_path and url_has_allowed_host_and_scheme(target, allowed_hosts=None):
        return target
    return settings.LOGIN_REDIRECT_URL


def account_url(request: HttpRequest, name: str, wanted: str = "") -> str:
    """Return the address of a page of accounts, which leads back to this page.

    A page of accounts passes its own destination on. `name` is one of ACCOUNT_PAGES;
    `wanted` is another destination than this page.
    """
    return address_of(name, wanted or _wanted(request))


def address_of(name: str, wanted: str) -> str:
    """Return the address of a page of accounts, which leads on to a destination."""
    return f"{reverse(name)}?{query(wanted)}"


def query(wanted: str) -> str:
    """Return the query that carries a destination."""
    return urlencode({"next": wanted}, safe="/")


def _wanted(request: HttpRequest) -> str:
    match = request.resolver_match
    if match is not None and match.url_name in ACCOUNT_PAGES:
        return destination(request)
    target = request.get_full_path()
    if request.method not in {"GET", "HEAD"}:
        # An action has no page of its own to come back to, but began on one.
        start = request.headers.get("referer", "")
        if not _is_of_this_site(request, start):
            return settings.LOGIN_REDIRECT_URL
        target = urlunsplit(("", "", *urlsplit(start)[2:4], ""))
    # A query that makes an address too long is left out rather than the page.
    return target if len(target) <= MAX_CHARS else urlsplit(target).path


def _is_of_this_site(request: HttpRequest, address: str) -> bool:
    try:
        return url_has_allowed_host_and_scheme(address, {request.get_host()})
    except DisallowedHost:  # the page says that the request is refused for its host
        return False
