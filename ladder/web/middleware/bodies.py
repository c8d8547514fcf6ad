"""The size limits of request bodies, known before a body is read.

The web server (`manage.py serve`) applies them as soon as it has the headers of a
request.
"""

import re
from dataclasses import dataclass
from http import HTTPStatus
from typing import NamedTuple

from django.conf import settings
from django.db import Error

from ladder.accounts import sessions, tokens

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


@dataclass(frozen=True, slots=True)
class Credentials:
    """The session key and the Authorization header of a request; "" if it has none."""

    session: str
    authorization: str

    def are_valid(self) -> bool:
        """True if they belong to a user who is signed in. Asks the database.

        Raises django.db.Error.
        """
        scheme, _, token = self.authorization.partition(" ")
        if scheme.lower() == "bearer" and tokens.is_known(token.strip()):
            return True
        return bool(self.session) and sessions.is_open(self.session)


def check_body(
    path: str, length: int, *, chunked: bool, credentials: Credentials
) -> Refusal | None:
    """Return the reason to refuse a body of `length` bytes; None if it is permitted.

    Only the upload of a user who is signed in may be large. The credentials are checked
    now, because everybody can invent a cookie and then send the body. This costs one or
    two queries, but only for a declared upload of more than MAX_BODY_BYTES.
    """
    if chunked:
        return Refusal(HTTPStatus.LENGTH_REQUIRED, "length-required", NO_LENGTH)
    limit = MAX_BODY_BYTES
    if UPLOAD_PATHS.fullmatch(path):
        limit = max_upload_bytes()
        if MAX_BODY_BYTES < length <= limit:
            return _check_credentials(credentials)
    if length <= limit:
        return None
    # The number may have thousands of digits.
    detail = f"The body is larger than the limit of {limit:,} bytes. {TOO_LARGE_STEP}"
    return Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "body-too-large", detail)


def _check_credentials(credentials: Credentials) -> Refusal | None:
    try:
        valid = credentials.are_valid()
    except Error:
        status = HTTPStatus.SERVICE_UNAVAILABLE
        detail = "The service cannot check your token now. Try again in a minute."
        return Refusal(status, "unavailable", detail)
    if valid:
        return None
    status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    detail = "Only a user who is signed in may upload. Sign in or send a valid token."
    return Refusal(status, "body-too-large", detail)


def length_of(text: str | None) -> int:
    """Return the declared length. A text that is not a number declares no body."""
    digits = text or ""
    return int(digits[:18]) if digits.isascii() and digits.isdigit() else 0
