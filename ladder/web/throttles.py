"""How often one person may ask: a counter for each minute, in the shared cache.

A view's `throttle_scope` has a count of its own for what is dear, such as unpacking.
"""

import time

from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest
from django.views import View
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

WINDOW = 60


class PerMinute(BaseThrottle):
    """One count for each token's owner or, without a token, for each address."""

    def __init__(self) -> None:
        self._wait: float | None = None

    def allow_request(self, request: Request, view: View) -> bool:
        now = time.time()
        if request.user.is_authenticated:
            who, most = f"user:{request.user.pk}", settings.TORRES_RATE_USER
        else:
            who, most = (
                f"addr:{self.get_ident(request)}",
                settings.TORRES_RATE_ANONYMOUS,
            )
        self._wait = WINDOW - now % WINDOW
        scope = getattr(view, "throttle_scope", "") if request.method == "POST" else ""
        if scope and is_too_often(scope, who):
            return False
        return bool(count(who) <= most)

    def wait(self) -> float | None:
        return self._wait


def is_too_often(scope: str, who: str) -> bool:
    """Count one more act of a dear kind, and say whether it is one too many."""
    most: int = settings.TORRES_RATES[scope]
    return count(f"{scope}:{who}") > most


def address(request: HttpRequest) -> str:
    """Return the client's address, as the REST framework's settings believe it."""
    return BaseThrottle().get_ident(request)  # type: ignore[arg-type]


def count(who: str) -> int:
    """Count one more in this minute, and return how many there were."""
    key = f"rate:{who}:{int(time.time() // WINDOW)}"
    return 1 if cache.add(key, 1, WINDOW + 1) else _increment(key)


def _increment(key: str) -> int:
    try:
        return cache.incr(key)
    except ValueError:  # it was dropped since
        return 1
