"""Authentication by token: bearer tokens in the API, and the sign-in page."""

from django.contrib.auth.backends import BaseBackend
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import Model
from django.http import HttpRequest
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed, Throttled
from rest_framework.request import Request

from ladder.accounts import scopes, tokens
from ladder.accounts.models import ApiToken
from ladder.accounts.roles import Person
from ladder.accounts.scopes import MissingScope, Scope
from ladder.common import rate_limits


class TokenAuthentication(BaseAuthentication):
    """`Authorization: Bearer TOKEN`.

    A token that lacks the scope of the request is refused here, and not by a class of
    permissions: a view that names permissions of its own cannot forget this check.
    """

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        scheme, _, text = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            return None
        token = tokens.use_token(text.strip())
        if token is None:
            # REST framework refuses the request before it counts it.
            for quota in rate_limits.take_address(request):
                if quota.is_exceeded:
                    raise Throttled(quota.use.left_s)
            raise AuthenticationFailed("This token is unknown or has expired.")
        _check_scope(request, token)
        scopes.restrict(token.user, token.scopes)
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="api"'


def _check_scope(request: Request, token: ApiToken) -> None:
    """Raise MissingScope if the token does not permit the request.

    A method that the view does not have needs no scope: the answer is 405.
    """
    view = (request.parser_context or {}).get("view")
    method = request.method or ""
    needed = scopes.needed(view, method)
    if hasattr(view, method.lower()) and not token.scopes & needed:
        raise MissingScope(needed)


class TokenBackend(BaseBackend):
    """Sign in with a token instead of a password. The token has to permit reading."""

    def authenticate(
        self, request: HttpRequest | None, *, token: str = "", **_: object
    ) -> User | None:
        valid = tokens.use_token(token) if token else None
        if valid is None or not valid.scopes & Scope.READ:
            return None
        setattr(valid.user, tokens.USED_TOKEN, valid.pk)
        return valid.user

    def get_user(self, user_id: int) -> User | None:
        return User.objects.filter(pk=user_id, is_active=True).first()


class TokenLimits:
    """Refuses the permissions of operators to a token without OPERATE.

    Django asks this backend first, and none after it raises PermissionDenied. It signs
    nobody in.
    """

    def authenticate(self, request: HttpRequest | None) -> None:
        """Never called, because Django passes credentials that this does not take."""

    def has_perm(self, user_obj: Person, perm: str, obj: Model | None = None) -> bool:
        if not scopes.of_user(user_obj) & Scope.OPERATE:
            raise PermissionDenied
        return False

    def has_module_perms(self, user_obj: Person, app_label: str) -> bool:
        return self.has_perm(user_obj, app_label)
