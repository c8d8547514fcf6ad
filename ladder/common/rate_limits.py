"""Counters of requests: one for each client and minute, in the shared cache."""

import time

from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

WINDOW_S = 60


def is_too_often(scope: str, client: str) -> bool:
    """Count an expensive action. True if the client has exceeded the limit."""
    limit: int = settings.TORRES_RATES[scope]
    return count(f"{scope}:{client}") > limit


def address(request: HttpRequest | Request) -> str:
    """Return the client's address, behind as many proxies as TORRES_PROXIES names."""
    return BaseThrottle().get_ident(request)  # type: ignore[arg-type]


def count(client: str, window_s: int = WINDOW_S) -> int:
    """Add one to the counter of this minute, or other window, and return its value."""
    key = f"rate:{client}:{int(time.time() // window_s)}"
    return 1 if cache.add(key, 1, window_s + 1) else _increment(key)


def _increment(key: str) -> int:
    try:
        return cache.incr(key)
    except ValueError:  # the cache evicted the key meanwhile
        return 1
