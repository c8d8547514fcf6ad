"""Invitations: operators create them, and people sign up with them."""

import hashlib
import secrets
from datetime import timedelta

from django.contrib.auth.models import User
from django.db.models import F, QuerySet
from django.utils import timezone

from ladder.accounts.models import MAX_NOTE_LENGTH, Invitation
from torres.common.errors import LadderError

MAX_USES = 10_000
MAX_DAYS = 365
DEFAULT_DAYS = 14
# The log hides texts that begin like tokens.
CODE_PREFIX = "torres_invitation_"
PREFIX_CHARS = 2 + len(CODE_PREFIX)
MAX_CODE_LENGTH = 100
NOT_VALID = (
    "This invitation is not valid. It is unknown, used up or expired. Copy the whole"
    " code, or ask the operator for a new one."
)


class BadInvitation(LadderError, code="bad-invitation", http_status=422):
    """The code of an invitation is unknown or used up."""


def new_invitation(
    by: User | None, *, uses: int = 1, days: float = DEFAULT_DAYS, note: str = ""
) -> tuple[str, Invitation]:
    """Create an invitation. Return its code, of which only a digest is stored, and it.

    ``by`` is None for a person at the console of the host.
    """
    code = f"{CODE_PREFIX}{secrets.token_urlsafe(18)}"
    invitation = Invitation.objects.create(
        prefix=code[:PREFIX_CHARS],
        digest=_digest(code),
        created_by=by,
        note=note[:MAX_NOTE_LENGTH],
        max_uses=uses,
        expires_at=timezone.now() + timedelta(days=days),
    )
    return code, invitation


def use_invitation(code: str) -> None:
    """Count one use of an invitation. Raises BadInvitation if it is not valid.

    One statement checks and counts, so that of two people only one gets the last use.
    """
    if _with_code(code).update(used=F("used") + 1) != 1:
        raise BadInvitation(NOT_VALID)


def check(code: str) -> None:
    """Raise BadInvitation if an invitation is not valid."""
    if find(code) is None:
        raise BadInvitation(NOT_VALID)


def find(code: str) -> Invitation | None:
    """Return the valid invitation with this code; None if there is none."""
    return _with_code(code).first()


def _with_code(code: str) -> QuerySet[Invitation]:
    return Invitation.objects.filter(
        digest=_digest(code.strip()),
        used__lt=F("max_uses"),
        expires_at__gt=timezone.now(),
    )


def _digest(code: str) -> str:
    return hashlib.sha256(code.encode(errors="replace")).hexdigest()
