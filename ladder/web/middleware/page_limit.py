"""The rate limits of everything outside of the REST API."""

import time
from collections.abc import Callable
from math import ceil

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from ladder.common.rate_limits import (
    address,
    address_wait_s,
    count,
    counted,
    wait_s,
)
from ladder.web.api import problems

API_PREFIX = "/api/v1/"


class PageLimit:
    """Limits the requests of an address outside of the REST API, and its CPU time.

    The REST API has limits of its own, per user (`throttles.PerMinute`). The CPU time
    is that of all requests without an account, because some cost a hundred others.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        what = "requests from your address"
        is_page = not request.path_info.startswith(API_PREFIX)
        if is_page and (refusal := too_often(request, "page", what=what)):
            return refusal
        client = f"cpu:{address(request)}"
        use = counted(client)
        is_over = use.requests > 1000 * settings.TORRES_RATE_CPU_SECONDS
        if is_over and "Authorization" not in request.headers:
            return _refuse(request, what, use.left_s)
        began = time.thread_time()
        response = self._get_response(request)
        user = getattr(request, "user", None)
        if user is None or not user.is_authenticated:
            count(client, amount=ceil(1000 * (time.thread_time() - began)))
        return response


def too_often(
    request: HttpRequest,
    scope: str,
    client: str = "",
    what: str = "attempts",
    factor: int = 1,
) -> HttpResponse | None:
    """Count an action. Return the refusal if there were too many within a minute.

    `scope` is a key of the setting TORRES_RATES, whose limit holds `factor` times.
    `client` is by default the address; `what` names the actions to a person.
    """
    wait = wait_s(scope, client, factor) if client else address_wait_s(scope, request)
    return _refuse(request, what, wait) if wait else None


def _refuse(request: HttpRequest, what: str, wait: int) -> HttpResponse:
    unit = "second" if wait == 1 else "seconds"
    detail = f"Too many {what}. Try again in {wait} {unit}."
    response = problems.answer(request, 429, "throttled", detail)
    response.headers["Retry-After"] = str(wait)
    return response
