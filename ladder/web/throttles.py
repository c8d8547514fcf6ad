"""Rate limits: one counter per user or address and minute, in the shared cache.

Expensive actions have a counter of their own, for example uploads: a REST view names it
by `throttle_scope`, a page calls `page_limit.too_often`.
"""

from django.conf import settings
from django.views import View
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from ladder.common.rate_limits import count, wait_s


class PerMinute(BaseThrottle):
    """Counts the requests of a user or, without a token, of an address."""

    def __init__(self) -> None:
        self._wait: float | None = None

    def allow_request(self, request: Request, view: View) -> bool:
        if request.user.is_authenticated:
            client = f"user:{request.user.pk}"
            limit = settings.TORRES_RATE_USER
        else:
            client = f"addr:{self.get_ident(request)}"
            limit = settings.TORRES_RATE_ANONYMOUS
        scope = getattr(view, "throttle_scope", "") if request.method == "POST" else ""
        if scope and (wait := wait_s(scope, client)):
            self._wait = wait
            return False
        use = count(client)
        self._wait = use.left_s
        return bool(use.requests <= limit)

    def wait(self) -> float | None:
        return self._wait
