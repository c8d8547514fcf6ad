"""Rate limits: one counter per user or address and minute, in the shared cache.

Expensive actions have a counter of their own, for example uploads: a REST view names it
by `throttle_scope`, a page calls `is_too_often`.
"""

import time

from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest
from django.views import View
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

WINDOW_S = 60


class PerMinute(BaseThrottle):
    """Counts the requests of a user or, without a token, of an address."""

    def __init__(self) -> None:
        self._wait: float | None = None

    def allow_request(self, request: Request, view: View) -> bool:
        now = time.time()
        if request.user.is_authenticated:
            client = f"user:{request.user.pk}"
            limit = settings.TORRES_RATE_USER
        else:
            client = f"addr:{self.get_ident(request)}"
            limit = settings.TORRES_RATE_ANONYMOUS
        self._wait = WINDOW_S - now % WINDOW_S
        scope = getattr(view, "throttle_scope", "") if request.method == "POST" else ""
        if scope and is_too_often(scope, client):
            return False
        return bool(count(client) <= limit)

    def wait(self) -> float | None:
        return self._wait


def is_too_often(scope: str, client: str) -> bool:
    """Count an expensive action. True if the client has exceeded the limit."""
    limit: int = settings.TORRES_RATES[scope]
    return count(f"{scope}:{client}") > limit


def address(request: HttpRequest) -> str:
    """Return the client's address, behind as many proxies as TORRES_PROXIES names."""
    return BaseThrottle().get_ident(request)  # type: ignore[arg-type]


def count(client: str) -> int:
    """Add one to the counter of this minute and return its value."""
    key = f"rate:{client}:{int(time.time() // WINDOW_S)}"
    return 1 if cache.add(key, 1, WINDOW_S + 1) else _increment(key)


def _increment(key: str) -> int:
    try:
        return cache.incr(key)
    except ValueError:  # the cache evicted the key meanwhile
        return 1
