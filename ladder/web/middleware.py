"""What every answer passes: headers that keep it harmless, and a short memory.

The headers are for a hostile name, log or note, even where escaping failed.
"""

import time
from collections.abc import Callable
from hashlib import sha256
from http import HTTPStatus
from threading import Lock
from typing import NamedTuple

from django.conf import settings
from django.core.cache import caches
from django.http import HttpRequest, HttpResponse
from django.utils.cache import get_conditional_response

Handler = Callable[[HttpRequest], HttpResponse]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
    " font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none';"
    " frame-ancestors 'none'"
)
# Swagger UI sets styles inline; it runs no script but its own.
LOOSE = POLICY.replace("style-src 'self'", "style-src 'self' 'unsafe-inline'")
LOCKS = 64
"""So many different pages can be made at once for the first time."""
PATIENCE, LONGEST_S = 20, 30.0
"""A page is fresh so many times as long as it took to make, and at most so long: where
the machine is busy pages become older, instead of readers waiting."""
STALE = 3
"""A page is kept so many times as long as it is fresh, for those who ask together."""


class Page(NamedTuple):
    """What was answered, and until when that is fresh."""

    until: float
    body: bytes
    headers: dict[str, str]


class ContentSecurityPolicy:
    def __init__(self, get_response: Handler) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self._get_response(request)
        policy = LOOSE if request.path.startswith("/api/docs/") else POLICY
        response.headers.setdefault("Content-Security-Policy", policy)
        response.headers.setdefault(
            "Permissions-Policy", "camera=(), microphone=(), geolocation=()"
        )
        return response


class Kept:
    """Keeps what anybody reads for a moment, so that a crowd costs as much as one.

    Not for who signs in or brings a token or any cookie, nor what sets one, nor what
    says itself how long it may be kept.
    """

    def __init__(self, get_response: Handler) -> None:
        self._get_response = get_response
        self._pages = caches["pages"]
        self._locks = [Lock() for _ in range(LOCKS)]

    def __call__(self, request: HttpRequest) -> HttpResponse:
        told = request.META
        if (
            request.method != "GET"
            or not settings.TORRES_FRESH_SECONDS
            or told.get("HTTP_COOKIE")
            or told.get("HTTP_AUTHORIZATION")
        ):
            return self._get_response(request)
        host = f"{request.scheme}://{told.get('HTTP_HOST')}"
        key = sha256(f"{host}{request.get_full_path()}".encode()).hexdigest()
        page: Page | None = self._pages.get(key)
        if page is None:
            # A crowd at a cold start: one makes it, the others wait.
            with self._locks[hash(key) % LOCKS]:
                page = self._pages.get(key)
                if page is None:
                    return self._make(request, key)
        elif time.monotonic() > page.until:
            # Whoever comes while it is made anew gets this one, and nobody waits.
            self._keep(key, page.body, page.headers, settings.TORRES_FRESH_SECONDS)
            return self._make(request, key)
        response = HttpResponse(page.body, headers=page.headers)
        etag = page.headers.get("ETag")
        return (
            get_conditional_response(request, etag=etag, response=response) or response
        )

    def _make(self, request: HttpRequest, key: str) -> HttpResponse:
        began = time.monotonic()
        response = self._get_response(request)
        if (
            response.status_code == HTTPStatus.OK
            and not response.streaming
            and not response.cookies
            and not response.has_header("Cache-Control")
        ):
            slow_s = min(PATIENCE * (time.monotonic() - began), LONGEST_S)
            fresh_s = max(settings.TORRES_FRESH_SECONDS, slow_s)
            self._keep(key, response.content, dict(response.items()), fresh_s)
        return response

    def _keep(
        self, key: str, body: bytes, headers: dict[str, str], fresh_s: float
    ) -> None:
        page = Page(time.monotonic() + fresh_s, body, headers)
        self._pages.set(key, page, STALE * fresh_s)
