"""Rate limits: one counter per user or address and minute, in the shared cache.

Expensive actions have a counter of their own, for example uploads: a REST view names it
by `throttle_scope`, a page calls `rate_limits.is_too_often`.
"""

import time

from django.conf import settings
from django.views import View
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from ladder.common.rate_limits import WINDOW_S, count, is_too_often


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
