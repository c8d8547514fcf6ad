"""The choice in the footer: whether pages hide results."""

from urllib.parse import parse_qsl, urlencode, urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.views import View

from ladder.web.middleware.hidden_results import COOKIE, FIELD, HIDDEN


class ResultsAction(View):
    """Hide or show results for a year, and lead back to the page with the choice."""

    scope = "read"

    def post(self, request: HttpRequest) -> HttpResponse:
        response = redirect(_page_before(request))
        if request.POST.get(FIELD) == HIDDEN:
            response.set_cookie(
                COOKIE,
                HIDDEN,
                max_age=settings.LANGUAGE_COOKIE_AGE,
                secure=settings.LANGUAGE_COOKIE_SECURE,
                httponly=True,
                samesite="Lax",
            )
        else:
            response.delete_cookie(COOKIE, samesite="Lax")
        return response


def _page_before(request: HttpRequest) -> str:
    """Return the address of the page with the form, without its own choice."""
    address = request.headers.get("Referer", "")
    here = {request.get_host()}
    if not url_has_allowed_host_and_scheme(address, here, request.is_secure()):
        return "/"
    parts = urlsplit(address)
    query = [(name, value) for name, value in parse_qsl(parts.query) if name != FIELD]
    return f"/{parts.path.lstrip('/')}{'?' if query else ''}{urlencode(query)}"
