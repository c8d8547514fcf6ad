"""The tokens with which programs and people sign in: create, check and revoke."""

import hashlib
import secrets
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from ladder.accounts.models import ApiToken
from ladder.accounts.scopes import DEFAULT, Scope
from ladder.accounts.user_names import remember_name
from torres.common.errors import TooMany

MAX_TOKENS = 50  # of one user
MAX_WITH_SAME_LABEL = 5  # see `renew_token`
# `last_used_at` may be out of date by this much. It saves a write for most requests.
LAST_USE_PRECISION = timedelta(hours=1)
# The attribute of a user who was authenticated by a token: the id of this token.
USED_TOKEN = "used_token_id"  # noqa: S105 - a name


def new_token(
    user: User,
    name: str = "default",
    expires_at: datetime | None = None,
    scopes: Scope = DEFAULT,
) -> str:
    """Create a token and return its text. Only a digest of the text is stored.

    It never expires if `expires_at` is None. Raises TooMany if the user has MAX_TOKENS
    tokens.
    """
    text = f"torres_{secrets.token_urlsafe(32)}"
    with transaction.atomic():
        # The lock makes the limit exact if one user creates two tokens at once.
        User.objects.select_for_update().get(pk=user.pk)
        if user.tokens.count() >= MAX_TOKENS:
            raise TooMany(
                f"{user} has {MAX_TOKENS} tokens, the most that one person may have."
                " Revoke one of them first."
            )
        ApiToken.objects.create(
            user=user,
            name=name,
            prefix=text[:12],
            digest=hashlib.sha256(text.encode()).hexdigest(),
            scopes=int(scopes),
            expires_at=expires_at,
        )
    return text


def token_for(name: str, label: str = "default", scopes: Scope = DEFAULT) -> str:
    """Return a new token for the user with this name.

    If there is no such user, create one without a password.
    """
    user, created = User.objects.get_or_create(username=name)
    if created:
        user.set_unusable_password()
        user.save(update_fields=["password"])
        remember_name(user)
    return new_token(user, label, scopes=scopes)


def renew_token(name: str, label: str) -> str:
    """Return a new token for a user, and revoke older ones with the same label.

    The newest MAX_WITH_SAME_LABEL stay, so that a program that is started again and
    again does not use up the quota. Create the user if there is none.
    """
    user = User.objects.filter(username=name).first()
    if user is not None:
        newest = user.tokens.filter(name=label).order_by("-pk")
        kept = list(newest.values_list("pk", flat=True)[: MAX_WITH_SAME_LABEL - 1])
        user.tokens.filter(name=label).exclude(pk__in=kept).delete()
    return token_for(name, label)


def use_token(text: str) -> ApiToken | None:
    """Return the token with this text if it is valid, and record its use."""
    token = _valid_token(text)
    if token is not None:
        now = timezone.now()
        limit = now - LAST_USE_PRECISION
        if token.last_used_at is None or token.last_used_at < limit:
            # Of several requests at the same moment only one writes.
            outdated = Q(last_used_at=None) | Q(last_used_at__lt=limit)
            ApiToken.objects.filter(outdated, pk=token.pk).update(last_used_at=now)
    return token


def revoke_token(user: User, token_id: int) -> None:
    ApiToken.objects.filter(user=user, pk=token_id).delete()


def find(authorization: str) -> ApiToken | None:
    """Return the valid token in a header `Authorization`. Records no use."""
    scheme, _, text = authorization.partition(" ")
    return _valid_token(text.strip()) if scheme.lower() == "bearer" else None


def is_known(text: str) -> bool:
    """True if this is the text of a valid token. Records no use."""
    return _valid_token(text) is not None


def expiry(token_id: int) -> datetime | None:
    """Return when a token expires; None for never."""
    expires_at = ApiToken.objects.filter(pk=token_id).values_list("expires_at")
    return expires_at[0][0] if expires_at else None


def valid_scopes(token_id: int, user_id: int) -> Scope | None:
    """Return the scopes of a token; None if the user has it no more, or it expired."""
    rows = _valid_tokens().filter(pk=token_id, user=user_id)
    scopes = rows.values_list("scopes", flat=True).first()
    return None if scopes is None else Scope(scopes)


def _valid_token(text: str) -> ApiToken | None:
    digest = hashlib.sha256(text.encode(errors="replace")).hexdigest()
    return _valid_tokens().select_related("user").filter(digest=digest).first()


def _valid_tokens() -> QuerySet[ApiToken]:
    unexpired = Q(expires_at=None) | Q(expires_at__gt=timezone.now())
    return ApiToken.objects.filter(unexpired, user__is_active=True)
