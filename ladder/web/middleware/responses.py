"""Middleware: ids of requests, security headers, and responses that visitors share.

The security headers limit the damage of a hostile name, log or note if the escaping in
a template ever fails.
"""

import re
import secrets
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
from django.utils.translation import get_language
from structlog.contextvars import bound_contextvars

from ladder.web.middleware import hidden_results

Handler = Callable[[HttpRequest], HttpResponse]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
    " font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none';"
    " frame-ancestors 'none'"
)
# Swagger UI sets inline styles. It runs only scripts of this site.
SWAGGER_POLICY = POLICY.replace("style-src 'self'", "style-src 'self' 'unsafe-inline'")
# A request locks one of these while its response is computed. Different URLs that share
# a lock by chance wait for each other, so there are more locks than threads.
LOCK_COUNT = 64
# Pages that are slow to render, or rendered on a busy machine, are shared for longer:
# this multiple of the time that it took, up to the maximum. So no page that many people
# look at takes more than a hundredth of a processor, if it is rendered in 50 ms.
SHARED_PER_RENDERING = 100
MAX_SHARED_S = 5.0
PUBLIC = re.compile(r"public, (max-age=\d+, s-maxage|max-age)=(?P<seconds>\d+)")
# Requests with no other cookies share responses.
SHARED_COOKIES = {settings.LANGUAGE_COOKIE_NAME, hidden_results.COOKIE}
# The cache drops a response this long after it was computed.
CACHE_TTL_S = 60


class CachedAnswer(NamedTuple):
    """A response for all requests that arrive before `expires` (monotonic seconds)."""

    expires: float
    body: bytes
    headers: dict[str, str]


class RequestIds:
    """Gives each request an id, which its lines in the log have, too.

    Every line that is logged meanwhile has the id, and the response has it in the
    header X-Request-ID. A client cannot choose it, because it could imitate another.
    """

    def __init__(self, get_response: Handler) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request.request_id = secrets.token_hex(8)  # type: ignore[attr-defined]
        with bound_contextvars(request_id=request.request_id):  # type: ignore[attr-defined]
            response = self._get_response(request)
        response["X-Request-ID"] = request.request_id  # type: ignore[attr-defined]
        return response


class ContentSecurityPolicy:
    """Adds the security headers that Django does not add."""

    def __init__(self, get_response: Handler) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self._get_response(request)
        is_swagger = request.path.startswith("/api/docs/")
        policy = SWAGGER_POLICY if is_swagger else POLICY
        response.headers.setdefault("Content-Security-Policy", policy)
        response.headers.setdefault(
            "Permissions-Policy", "camera=(), microphone=(), geolocation=()"
        )
        return response


class SharedAnswers:
    """Computes a response once for many anonymous requests of the same URL.

    1. Only GET requests without a token share responses, and without a cookie, except
       the ones of the language and of hidden results. Each language has responses of
       its own, and so have readers who hide results.
    2. JSON is shared by the requests that arrived before its computation began, so a
       program never gets data that are older than its request.
    3. HTML is shared for TORRES_FRESH_SECONDS, and longer if it was slow to render.
    4. A response with "Cache-Control: public" is shared for its max-age or s-maxage, at
       most for MAX_SHARED_S.
    5. Requests that wait for the same response wait for its lock and compute it once.
    6. A response is not shared if it is not a 200, sets cookies, is streamed, or has
       another Cache-Control header.
    """

    def __init__(self, get_response: Handler) -> None:
        self._get_response = get_response
        self._cache = caches["pages"]
        self._locks = [Lock() for _ in range(LOCK_COUNT)]

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not _may_share(request):
            return self._get_response(request)
        arrived = time.monotonic()
        key = _key(request)
        cached = self._find(key, arrived)
        if cached is None:
            with self._locks[hash(key) % LOCK_COUNT]:
                # Another request may have computed it while this one waited.
                cached = self._find(key, arrived)
                if cached is None:
                    return self._compute(request, key)
        response = HttpResponse(cached.body, headers=cached.headers)
        return _conditional(request, response)

    def _find(self, key: str, arrived: float) -> CachedAnswer | None:
        cached: CachedAnswer | None = self._cache.get(key)
        return cached if cached is not None and arrived <= cached.expires else None

    def _compute(self, request: HttpRequest, key: str) -> HttpResponse:
        # The view has to return the body, which is shared, also if this client has it.
        known = request.META.pop("HTTP_IF_NONE_MATCH", None)
        started = time.monotonic()
        response = self._get_response(request)
        if _is_shareable(response):
            shared_s = _shared_s(response, rendering_s=time.monotonic() - started)
            body, headers = response.content, dict(response.items())
            answer = CachedAnswer(started + shared_s, body, headers)
            self._cache.set(key, answer, CACHE_TTL_S)
        if known is not None:
            request.META["HTTP_IF_NONE_MATCH"] = known
        return _conditional(request, response)


def _conditional(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """Return a 304 if the client has the response, otherwise the response."""
    etag = response.headers.get("ETag")
    return get_conditional_response(request, etag=etag, response=response) or response


def _shared_s(response: HttpResponse, *, rendering_s: float) -> float:
    """Return for how long a response is shared, in seconds from its request."""
    if public := PUBLIC.fullmatch(response.headers.get("Cache-Control", "")):
        return min(float(public["seconds"]), MAX_SHARED_S)
    if response["Content-Type"].startswith("text/html"):
        slow_s = min(SHARED_PER_RENDERING * rendering_s, MAX_SHARED_S)
        return max(float(settings.TORRES_FRESH_SECONDS), slow_s)
    return 0.0


def _may_share(request: HttpRequest) -> bool:
    """True if the response to a request may be shared with other visitors."""
    return bool(
        request.method == "GET"
        and settings.TORRES_FRESH_SECONDS
        and request.COOKIES.keys() <= SHARED_COOKIES
        and not request.META.get("HTTP_AUTHORIZATION")
    )


def _key(request: HttpRequest) -> str:
    """Return a cache key of everything on which a shared response depends."""
    meta = request.META
    host = f"{request.scheme}://{meta.get('HTTP_HOST')}"
    packed = "gzip" in meta.get("HTTP_ACCEPT_ENCODING", "")
    hides = hidden_results.hides(request)
    form = f"{meta.get('HTTP_ACCEPT')} {packed} {get_language()} {hides}"
    name = f"{host}{request.get_full_path()} {form}"
    return sha256(name.encode()).hexdigest()


def _is_shareable(response: HttpResponse) -> bool:
    control = response.headers.get("Cache-Control")
    return (
        response.status_code == HTTPStatus.OK
        and not response.streaming
        and not response.cookies
        and (control is None or PUBLIC.fullmatch(control) is not None)
    )
