"""Requests that are done once, although a program sends them again.

A program gives a POST a key of its own choice. The first request claims the key, and
its response is stored. The same request with the same key gets the stored response.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from ladder.accounts.models import MAX_IDEMPOTENCY_KEY_LENGTH, IdempotentRequest
from torres.common.errors import LadderError

KEPT_FOR = timedelta(hours=24)
# A request without a response belongs to a process that was killed, after this time.
# The longest request, an upload of the largest size, takes a fraction of it.
LEASE = timedelta(minutes=5)
# The latest keys of one user are kept. With MAX_BODY_BYTES this bounds the space.
MAX_KEYS = 1000
MAX_BODY_BYTES = 32 << 10
RETRY_AFTER_S = 2
# Printable ASCII, with or without the quotes of a structured field.
KEY = re.compile(rf"[\x21-\x7e]{{1,{MAX_IDEMPOTENCY_KEY_LENGTH}}}")


class BadIdempotencyKey(LadderError):
    """The header has a value that is no key."""

    code = "bad-idempotency-key"


class KeyReused(LadderError):
    """Another request had this key."""

    code = "idempotency-key-reused"
    http_status = 422


class InProgress(LadderError):
    """The first request with this key has not ended."""

    code = "in-progress"
    http_status = 409


class NoStoredResponse(LadderError):
    """The request was done, but its response was not stored."""

    code = "no-stored-response"
    http_status = 409


@dataclass(frozen=True, slots=True)
class StoredResponse:
    """A response as it was sent to the first request."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class KeyClaim:
    """The right to process the request with a key. It is lost when the lease ends."""

    pk: int
    started_at: datetime


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


def claim(user: User, key: str, fingerprint: str) -> KeyClaim | StoredResponse:
    """Claim a key, or return the response to the first request with this key.

    1. Insert a row. The unique key decides between two requests at the same moment.
    2. If there is a row, it answers: KeyReused if it is about another request,
       InProgress if its lease has not ended, otherwise its response.
    3. A row that is too old, or whose process was killed, is taken over by one UPDATE
       that names the moment of the old claim, so that one of two requests gets it.
    """
    now = timezone.now()
    try:
        with transaction.atomic():
            row = IdempotentRequest.objects.create(
                user=user, key=key, fingerprint=fingerprint, started_at=now
            )
    except IntegrityError:
        return _repeat(user, key, fingerprint, now)
    _forget_oldest(user)
    return KeyClaim(row.pk, now)


def _repeat(
    user: User, key: str, fingerprint: str, now: datetime
) -> KeyClaim | StoredResponse:
    row = IdempotentRequest.objects.filter(user=user, key=key).first()
    if row is None:  # the first request has failed meanwhile
        raise _in_progress()
    kept_for = LEASE if row.status is None else KEPT_FOR
    if row.started_at + kept_for < now:
        return _take_over(row, fingerprint, now)
    if row.fingerprint != fingerprint:
        raise KeyReused(
            "You sent another request with this Idempotency-Key. Use a new key for each"
            " request, and the same key only to send the same request again."
        )
    if row.status is None:
        raise _in_progress()
    if row.body is None:
        raise NoStoredResponse(
            f"This request was done, and its status was {row.status}. Its response was"
            " not stored, because it is secret or large. Read what it has changed."
        )
    return StoredResponse(row.status, row.headers, bytes(row.body))


def _in_progress() -> InProgress:
    return InProgress(
        "The first request with this Idempotency-Key is still being processed. Send it"
        " again after the time in Retry-After."
    )


def _take_over(row: IdempotentRequest, fingerprint: str, now: datetime) -> KeyClaim:
    unchanged = IdempotentRequest.objects.filter(pk=row.pk, started_at=row.started_at)
    if not unchanged.update(
        fingerprint=fingerprint, started_at=now, status=None, headers={}, body=None
    ):
        raise _in_progress()
    return KeyClaim(row.pk, now)


def finish(claimed: KeyClaim, response: StoredResponse, *, secret: bool) -> None:
    """Store the response to a request. A secret or a large body is left out."""
    is_stored = not secret and len(response.body) <= MAX_BODY_BYTES
    _own(claimed).update(
        status=response.status,
        headers=dict(response.headers) if is_stored else {},
        body=response.body if is_stored else None,
    )


def release(claimed: KeyClaim) -> None:
    """Give a key back after a request that changed nothing."""
    _own(claimed).delete()


def _own(claimed: KeyClaim) -> QuerySet[IdempotentRequest]:
    return IdempotentRequest.objects.filter(
        pk=claimed.pk, started_at=claimed.started_at
    )


def _forget_oldest(user: User) -> None:
    rows = IdempotentRequest.objects.filter(user=user).order_by("-pk")
    old = list(rows.values_list("pk", flat=True)[MAX_KEYS : MAX_KEYS + 100])
    if old:
        IdempotentRequest.objects.filter(pk__in=old).delete()
