"""What may happen to the tokens by which programs and people say who they are."""

import hashlib
import secrets
from datetime import timedelta

from django.contrib.auth.models import User
from django.db.models import Q
from django.utils import timezone

from ladder.accounts.models import ApiToken

TOUCH = timedelta(hours=1)
"""How exactly it is known when a token was used last."""


def new_token(user: User, name: str = "default") -> str:
    """Make a token and return its text, which is not kept."""
    text = f"torres_{secrets.token_urlsafe(32)}"
    ApiToken.objects.create(
        user=user,
        name=name,
        prefix=text[:12],
        digest=hashlib.sha256(text.encode()).hexdigest(),
    )
    return text


def token_for(name: str) -> str:
    """Make the user if there is none, without a password, and return a new token."""
    user, created = User.objects.get_or_create(username=name)
    if created:
        user.set_unusable_password()
        user.save(update_fields=["password"])
    return new_token(user)


def use_token(text: str) -> ApiToken | None:
    """Find a valid token, and note now and then that it was used."""
    token = token_of(text)
    if token is not None:
        now = timezone.now()
        stale = Q(last_used_at=None) | Q(last_used_at__lt=now - TOUCH)
        if token.last_used_at is None or token.last_used_at < now - TOUCH:
            ApiToken.objects.filter(stale, pk=token.pk).update(last_used_at=now)
    return token


def token_of(text: str) -> ApiToken | None:
    """Find a token that is valid now by its text."""
    digest = hashlib.sha256(text.encode(errors="replace")).hexdigest()
    return (
        ApiToken.objects.select_related("user")
        .filter(digest=digest, user__is_active=True)
        .filter(Q(expires_at=None) | Q(expires_at__gt=timezone.now()))
        .first()
    )


def revoke_token(user: User, token_id: int) -> None:
    ApiToken.objects.filter(user=user, pk=token_id).delete()
