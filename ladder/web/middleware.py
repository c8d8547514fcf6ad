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
"""So many different answers can be made at once."""
PATIENCE, LONGEST_S = 20, 5.0
"""A page may be so many times as old as it took to make, and at most so old: where the
machine is busy pages become older, instead of readers waiting."""
KEPT_S = 60
"""After so long without a reader an answer is forgotten."""


class CachedAnswer(NamedTuple):
    """What was answered, and who may have it: those who asked before ``until``."""

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


class SharedAnswers:
    """Makes an answer once for all who may have it: a crowd costs as much as one.

    What a program reads (JSON) is shared by those who asked before it was begun, so it
    is never older than the question; a page may be older, by TORRES_FRESH_SECONDS.
    Nothing is shared by who signs in or brings a token or any cookie, nor what sets
    one, nor what says itself how long it may be kept.
    """

    def __init__(self, get_response: Handler) -> None:
        self._get_response = get_response
        self._answers = caches["pages"]
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
        asked = time.monotonic()
        host = f"{request.scheme}://{told.get('HTTP_HOST')}"
        name = f"{host}{request.get_full_path()} {told.get('HTTP_ACCEPT')}"
        key = sha256(name.encode()).hexdigest()
        kept = self._kept(key, asked)
        if kept is None:
            with self._locks[hash(key) % LOCKS]:
                kept = self._kept(key, asked)  # another may have made it meanwhile
                if kept is None:
                    return self._make(request, key)
        response = HttpResponse(kept.body, headers=kept.headers)
        etag = kept.headers.get("ETag")
        return (
            get_conditional_response(request, etag=etag, response=response) or response
        )

    def _kept(self, key: str, asked: float) -> CachedAnswer | None:
        kept: CachedAnswer | None = self._answers.get(key)
        return kept if kept is not None and asked <= kept.until else None

    def _make(self, request: HttpRequest, key: str) -> HttpResponse:
        until = time.monotonic()
        response = self._get_response(request)
        if (
            response.status_code == HTTPStatus.OK
            and not response.streaming
            and not response.cookies
            and not response.has_header("Cache-Control")
        ):
            if response["Content-Type"].startswith("text/html"):
                slow_s = min(PATIENCE * (time.monotonic() - until), LONGEST_S)
                until += max(settings.TORRES_FRESH_SECONDS, slow_s)
            kept = CachedAnswer(until, response.content, dict(response.items()))
            self._answers.set(key, kept, KEPT_S)
        return response
