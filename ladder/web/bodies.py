"""The size limits of request bodies, known before a body is read.

The web server (`manage.py serve`) applies them as soon as it has the headers of a
request. `BodyLimit` applies them again, for other servers.
"""

import re
from collections.abc import Callable
from http import HTTPStatus
from typing import NamedTuple

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from ladder.web import problems

MAX_BODY_BYTES = 64 << 10
FORM_OVERHEAD_BYTES = 64 << 10  # what multipart/form-data adds to an upload
UPLOAD_PATHS = re.compile(
    r"/bots/[-\w]+/upload/|/api/v1/bots/[-\w]+/submissions/", re.ASCII
)
TOO_LARGE_STEP = "Send less, and upload bots only to the upload address of your bot."
NO_LENGTH = (
    "The request does not declare the length of its body. Send a Content-Length header"
    " instead of Transfer-Encoding."
)


class Refusal(NamedTuple):
    """The reason to refuse a body, for a problem document."""

    status: HTTPStatus
    code: str
    detail: str


def max_upload_bytes() -> int:
    """Return the length of the largest body of all: a form with an upload."""
    return int(settings.TORRES_UPLOAD_BYTES) + FORM_OVERHEAD_BYTES


def check_body(
    path: str, length: int, *, chunked: bool, has_credentials: bool
) -> Refusal | None:
    """Return the reason to refuse a body of `length` bytes; None if it is permitted.

    `has_credentials` is True if the request has a session cookie or a token. They are
    not verified here, because this may run before the request has a thread.
    """
    if chunked:
        return Refusal(HTTPStatus.LENGTH_REQUIRED, "length-required", NO_LENGTH)
    limit = MAX_BODY_BYTES
    if UPLOAD_PATHS.fullmatch(path):
        if not has_credentials and length > limit:
            status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
            detail = "Only a user who is signed in may upload. Sign in or send a token."
            return Refusal(status, "body-too-large", detail)
        limit = max_upload_bytes()
    if length <= limit:
        return None
    # The number may have thousands of digits.
    detail = f"The body is larger than the limit of {limit:,} bytes. {TOO_LARGE_STEP}"
    return Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "body-too-large", detail)


class BodyLimit:
    """Refuses a body that is too large, or of unknown length, before it is read."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        meta = request.META
        has_session = settings.SESSION_COOKIE_NAME in request.COOKIES
        refusal = check_body(
            request.path_info,
            _length(meta.get("CONTENT_LENGTH")),
            chunked=bool(meta.get("HTTP_TRANSFER_ENCODING")),
            has_credentials=has_session or bool(meta.get("HTTP_AUTHORIZATION")),
        )
        if refusal:
            return problems.answer(request, *refusal)
        return self._get_response(request)


def _length(text: str | None) -> int:
    """Return the declared length. A text that is not a number declares no body."""
    digits = text or ""
    return int(digits[:18]) if digits.isascii() and digits.isdigit() else 0
