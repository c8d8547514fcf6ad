"""Sessions that were opened with a token. They end with that token.

Such a session permits no more than its token: `TokenSessions` restricts its user, and
`ladder.web.api.token_scopes` refuses requests that the token does not permit.
"""

from datetime import datetime
from importlib import import_module

from django.conf import settings
from django.contrib import auth
from django.contrib.auth import middleware
from django.contrib.auth.models import AnonymousUser, User
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from ladder.accounts import scopes, tokens

SESSION_KEY = "token_id"
TOKEN_BACKEND = "ladder.accounts.authentication.TokenBackend"  # noqa: S105 - a name
PASSWORD_BACKEND = "django.contrib.auth.backends.ModelBackend"  # noqa: S105 - a name


def sign_in(request: HttpRequest, user: User, backend: str | None = None) -> None:
    """Open a session for a user that one of our backends has authenticated.

    If it was by a token, the session stores the id of this token. ``backend`` is needed
    for a new user only, whom no backend has authenticated yet.
    """
    auth.login(request, user, backend)
    token_id = getattr(user, tokens.USED_TOKEN, None)
    if token_id is not None:
        request.session[SESSION_KEY] = token_id
    else:
        # The same user may have signed in with a token before.
        request.session.pop(SESSION_KEY, None)


def is_by_token(request: HttpRequest) -> bool:
    """True if the session of a request was opened with a token.

    Such a session ends with its token, so it may change nothing that would outlive it:
    no password, no address, no account.
    """
    return bool(request.session.get(auth.BACKEND_SESSION_KEY) == TOKEN_BACKEND)


def expiry(request: HttpRequest) -> datetime | None:
    """Return when the token expires that opened this session; None for never.

    A token that is created in the session must not outlive it.
    """
    return tokens.expiry(request.session.get(SESSION_KEY, 0))


def is_open(session_key: str) -> bool:
    """True if a session with this key is open for a user. Records no use."""
    engine = import_module(settings.SESSION_ENGINE)
    request = HttpRequest()
    request.session = engine.SessionStore(session_key)
    return _current(request, auth.get_user(request)).is_authenticated


class TokenSessions(middleware.AuthenticationMiddleware):
    """Sets `request.user`, and ends a session whose token was revoked or has expired.

    Nothing is read from the database before somebody asks for the user.
    The user of a session by token is no operator without the scope OPERATE.
    """

    def process_request(self, request: HttpRequest) -> None:
        super().process_request(request)
        user = request.user
        request.user = SimpleLazyObject(lambda: _current(request, user))  # type: ignore[assignment]


def _current(request: HttpRequest, user: User | AnonymousUser) -> User | AnonymousUser:
    if isinstance(user, User) and is_by_token(request):
        permitted = tokens.valid_scopes(request.session.get(SESSION_KEY, 0), user.pk)
        if permitted is None:
            request.session.flush()
            return AnonymousUser()
        scopes.restrict(user, permitted)
    return user
