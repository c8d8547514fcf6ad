"""Requests that are done once, although a program sends them again.

A program gives a POST that creates something a key of its own choice, in the header
Idempotency-Key. The first request claims the key, and its response is stored. The same
request with the same key gets the stored response.
"""

import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial, wraps
from hashlib import sha256
from http import HTTPStatus

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.http import HttpResponse
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from ladder.accounts.models import MAX_IDEMPOTENCY_KEY_LENGTH, IdempotentRequest
from ladder.common import leases
from ladder.common.leases import Held
from torres.common.errors import LadderError

KEPT_FOR = timedelta(hours=24)
# A request without a response belongs to a process that was killed, after this time.
# The longest request, an upload of the largest size, takes a fraction of it.
LEASE = timedelta(minutes=5)
# The latest keys of one user are kept. With MAX_BODY_BYTES this bounds the space.
MAX_KEYS = 1000
MAX_BODY_BYTES = 32 << 10
HEADER = "Idempotency-Key"
REPLAYED = "Idempotent-Replayed"
STORED_HEADERS = ("Content-Type", "Location")
# These say nothing about the request itself, so that it is processed when it is sent
# again. A server error is followed by another attempt, too.
NOT_STORED = {
    HTTPStatus.UNAUTHORIZED,
    HTTPStatus.FORBIDDEN,
    HTTPStatus.TOO_MANY_REQUESTS,
}
# Printable ASCII, with or without the quotes of a structured field.
KEY = re.compile(rf"[\x21-\x7e]{{1,{MAX_IDEMPOTENCY_KEY_LENGTH}}}")


class BadIdempotencyKey(LadderError, code="bad-idempotency-key"):
    """The header has a value that is no key."""


class KeyReused(LadderError, code="idempotency-key-reused", http_status=422):
    """Another request had this key."""


class InProgress(LadderError, code="in-progress", http_status=409):
    """The first request with this key has not ended."""

    retry_after = 2

    def __init__(self) -> None:
        super().__init__(
            "The first request with this Idempotency-Key is still being processed. Send"
            " it again after the time in Retry-After."
        )


class NoStoredResponse(LadderError, code="no-stored-response", http_status=409):
    """The request was done, but its response was not stored."""


KeyClaim = Held[IdempotentRequest]
"""The right to process the request with a key."""
Post = Callable[..., Response]


def once_by_key(post: Post) -> Callable[..., HttpResponse]:
    """Let the method `post` of a REST view take an Idempotency-Key.

    The user, the scope and the rate limits are checked before, as for all requests. A
    view whose response has a secret says so by `secret_response = True`. Then the
    response is not stored, and a repetition is told so.
    """

    @wraps(post)
    def post_once(
        view: APIView, request: Request, *args: object, **kwargs: object
    ) -> HttpResponse:
        header = request.headers.get(HEADER)
        if header is None or not isinstance(request.user, User):
            return post(view, request, *args, **kwargs)
        found = claim(request.user, clean_key(header), fingerprint(request))
        if isinstance(found, HttpResponse):
            return found
        try:
            response = _answer(post, view, request, *args, **kwargs)
        except BaseException:
            release(found)
            raise
        secret = getattr(view, "secret_response", False)
        response.add_post_render_callback(partial(finish, found, secret=secret))
        return response

    post_once.takes_key = True  # type: ignore[attr-defined]
    return post_once


def takes_key(view: APIView) -> bool:
    """True if a POST to this view may have a key."""
    return hasattr(getattr(view, "post", None), "takes_key")


def _answer(post: Post, view: APIView, *args: object, **kwargs: object) -> Response:
    """Return the response to a request, also to one that is refused."""
    try:
        return post(view, *args, **kwargs)
    except Exception as failure:  # noqa: BLE001 -- it is raised again if it is no refusal
        return view.handle_exception(failure)


def fingerprint(request: Request) -> str:
    """Return a digest of method, address and body.

    Of a form the parts are digested, because a program that sends it again separates
    them by another boundary. Files are read in chunks.
    """
    digest = sha256(f"{request.method} {request.get_full_path()}\n".encode())
    if str(request.content_type).startswith("multipart/form-data"):
        for text in _parts(request):
            digest.update(f"{len(text)} {text}\n".encode(errors="surrogatepass"))
    else:
        digest.update(request.body)
    return digest.hexdigest()


def _parts(request: Request) -> Iterator[str]:
    """Yield the names and values of a form in the order of the names."""
    for name in sorted(request.POST):
        yield from (name, *request.POST.getlist(name))
    for name in sorted(request.FILES):
        for file in request.FILES.getlist(name):
            content = sha256()
            for chunk in file.chunks():
                content.update(chunk)
            file.seek(0)
            yield from (name, str(file.name), content.hexdigest())


def clean_key(text: str) -> str:
    """Return the key in a header. Raises BadIdempotencyKey."""
    key = text.strip()
    if len(key) > 1 and key[0] == key[-1] == '"':
        key = key[1:-1]
    if not KEY.fullmatch(key):
        raise BadIdempotencyKey(
            "The Idempotency-Key is not valid. Use 1 to"
            f" {MAX_IDEMPOTENCY_KEY_LENGTH} printable ASCII characters without spaces,"
            " for example a UUID."
        )
    return key


def claim(user: User, key: str, fingerprint: str) -> KeyClaim | HttpResponse:
    """Claim a key, or return the response to the first request with this key.

    1. Insert a row. The unique key decides between two requests at the same moment.
    2. Take over a row that is too old, or whose process was killed.
    3. Otherwise the row answers: KeyReused if it is about another request, InProgress
       if its request has not ended, NoStoredResponse, or its response.
    """
    try:
        with transaction.atomic():
            row = IdempotentRequest.objects.create(
                user=user,
                key=key,
                fingerprint=fingerprint,
                started_at=Now(),
                lease_until=Now() + LEASE,
            )
    except IntegrityError:
        return _repeat(user, key, fingerprint)
    _forget_oldest(user)
    return _held(row.pk, row.fence)


def _repeat(user: User, key: str, fingerprint: str) -> KeyClaim | HttpResponse:
    row = IdempotentRequest.objects.filter(user=user, key=key).first()
    if row is None:  # the first request has failed meanwhile
        raise InProgress
    free = IdempotentRequest.objects.filter(
        Q(leases.is_free(), status=None) | Q(started_at__lt=Now() - KEPT_FOR)
    )
    fence = leases.take(
        free,
        row.pk,
        row.fence,
        LEASE,
        fingerprint=fingerprint,
        started_at=Now(),
        status=None,
        headers={},
        body=None,
    )
    if fence is not None:
        return _held(row.pk, fence)
    if row.fingerprint != fingerprint:
        raise KeyReused(
            "You sent another request with this Idempotency-Key. Use a new key for each"
            " request, and the same key only to send the same request again."
        )
    if row.status is None:
        raise InProgress
    if row.body is None:
        raise NoStoredResponse(
            f"This request was done, and its status was {row.status}. Its response was"
            " not stored, because it is secret or large. Read what it has changed."
        )
    headers = {**row.headers, REPLAYED: "true"}
    return HttpResponse(bytes(row.body), status=row.status, headers=headers)


def _held(pk: int, fence: int) -> KeyClaim:
    return Held(IdempotentRequest.objects.filter(status=None), pk, fence)


def finish(claimed: KeyClaim, response: HttpResponse, *, secret: bool) -> None:
    """Store a response, or give the key back if the request may be done later.

    A secret or a large body is left out.
    """
    status = response.status_code
    if status in NOT_STORED or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        release(claimed)
        return
    headers = {
        name: response[name] for name in STORED_HEADERS if response.has_header(name)
    }
    is_stored = not secret and len(response.content) <= MAX_BODY_BYTES
    claimed.update(
        status=status,
        lease_until=None,
        headers=headers if is_stored else {},
        body=response.content if is_stored else None,
    )


def release(claimed: KeyClaim) -> None:
    """Give a key back after a request that changed nothing."""
    claimed.row().delete()


def _forget_oldest(user: User) -> None:
    rows = IdempotentRequest.objects.filter(user=user).order_by("-pk")
    old = list(rows.values_list("pk", flat=True)[MAX_KEYS : MAX_KEYS + 100])
    if old:
        IdempotentRequest.objects.filter(pk__in=old).delete()
