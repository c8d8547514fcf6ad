"""The rate limit of everything outside of the REST API."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from ladder.common.rate_limits import WINDOW_S, address, is_too_often
from ladder.web import problems

API_PREFIX = "/api/v1/"


class PageLimit:
    """Limits the requests of an address outside of the REST API.

    The REST API has limits of its own, per user (`throttles.PerMinute`).
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.path_info.startswith(API_PREFIX):
            return self._get_response(request)
        if is_too_often("page", f"addr:{address(request)}"):
            detail = "Too many requests from your address. Try again in a minute."
            response = problems.answer(request, 429, "throttled", detail)
            response.headers["Retry-After"] = str(WINDOW_S)
            return response
        return self._get_response(request)
