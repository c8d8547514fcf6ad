"""Rate limits: counters per token, user or address and minute, in the shared cache.

Expensive actions have a counter of their own, for example uploads: a REST view names it
by `throttle_scope`, a page calls `too_often`.
"""

import time
from collections.abc import Callable, Iterator
from math import ceil

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views import View
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from ladder.accounts.models import ApiToken
from ladder.common.rate_limits import (
    WINDOW_S,
    Quota,
    address,
    address_wait_s,
    count,
    counted,
    quotas_of,
    take,
    take_address,
    wait_s,
)
from ladder.web.api import problems


class PerMinute(BaseThrottle):
    """Counts the requests of a token and of its user or, without one, of an address.

    A program that sends too much uses up the limit of its token, and leaves the user's
    other programs the rest of the limit of the user.
    """

    def __init__(self) -> None:
        self._wait: float | None = None

    def allow_request(self, request: Request, view: View) -> bool:
        for quota in self._quotas(request, view):
            if quota.is_exceeded:
                self._wait = quota.use.left_s
                return False
        return True

    def _quotas(self, request: Request, view: View) -> Iterator[Quota]:
        """Count one limit after another, until the caller has found an exceeded one."""
        if request.user.is_authenticated:
            client = f"user:{request.user.pk}"
        else:
            client = f"addr:{address(request)}"
        scope = getattr(view, "throttle_scope", "") if request.method == "POST" else ""
        if scope:
            limit = settings.TORRES_RATES[scope]
            yield take(request, scope, limit, f"{scope}:{client}")
        if isinstance(request.auth, ApiToken):
            counter = f"token:{request.auth.pk}"
            yield take(request, "token", settings.TORRES_RATE_TOKEN, counter)
        if request.user.is_authenticated:
            yield take(request, "user", settings.TORRES_RATE_USER, client)
        else:
            yield from take_address(request)

    def wait(self) -> float | None:
        return self._wait


class RateLimitHeaders:
    """Tells clients of the REST API their limits, and the rest of each limit.

    The headers are the structured fields of draft-ietf-httpapi-ratelimit-headers. The
    older `RateLimit-Limit`, `-Remaining` and `-Reset` can only tell one limit, and the
    draft has dropped them. This stands outside of the responses that visitors share.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self._get_response(request)
        if quotas := quotas_of(request):
            response["RateLimit-Policy"] = ", ".join(
                f'"{quota.name}";q={quota.limit};w={WINDOW_S}' for quota in quotas
            )
            response["RateLimit"] = ", ".join(
                f'"{quota.name}";r={_left(quota)};t={quota.use.left_s}'
                for quota in quotas
            )
        return response


def _left(quota: Quota) -> int:
    return max(0, quota.limit - quota.use.requests)


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
