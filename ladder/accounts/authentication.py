"""Authentication by token: bearer tokens in the API, and the sign-in page."""

from django.conf import settings
from django.contrib.auth.backends import BaseBackend
from django.contrib.auth.models import User
from django.http import HttpRequest
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed, Throttled
from rest_framework.request import Request

from ladder.accounts import tokens
from ladder.accounts.models import ApiToken
from ladder.common import rate_limits


class TokenAuthentication(BaseAuthentication):
    """`Authorization: Bearer TOKEN`."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        scheme, _, text = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            return None
        token = tokens.use_token(text.strip())
        if token is None:
            # REST framework refuses the request before it counts it.
            client = f"addr:{rate_limits.address(request)}"
            use = rate_limits.count(client)
            if use.requests > settings.TORRES_RATE_ANONYMOUS:
                raise Throttled(use.left_s)
            raise AuthenticationFailed("This token is unknown or has expired.")
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="api"'


class TokenBackend(BaseBackend):
    """Sign in with a token instead of a password."""

    def authenticate(
        self, request: HttpRequest | None, *, token: str = "", **_: object
    ) -> User | None:
        valid = tokens.use_token(token) if token else None
        if valid is None:
            return None
        setattr(valid.user, tokens.USED_TOKEN, valid.pk)
        return valid.user

    def get_user(self, user_id: int) -> User | None:
        return User.objects.filter(pk=user_id, is_active=True).first()
