"""Rate limits: counters per token, user or address and minute, in the shared cache.

Expensive actions have a counter of their own, for example uploads: a REST view names it
by `throttle_scope`, a page calls `page_limit.too_often`.
"""

from collections.abc import Callable, Iterator

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
    quotas_of,
    take,
    take_address,
)


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
