"""The signed cookie that identifies a guest, and the end of being a guest."""

from datetime import timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.core import signing
from django.http import HttpRequest, HttpResponse

from ladder.accounts import sessions
from ladder.extras.editor import services as trials
from ladder.extras.practice import guests
from ladder.extras.practice.selectors import Guest
from torres.common.errors import LadderError

COOKIE = "guest"
SALT = "ladder.web.guests"


class BadGuestCookie(LadderError, code="bad-guest-cookie", http_status=403):
    """The cookie of a guest is forged, or older than the games of guests."""


def guest_of(request: HttpRequest) -> Guest | None:
    """Return the guest behind a request; None without one. Raises BadGuestCookie."""
    if COOKIE not in request.COOKIES:
        return None
    try:
        key = request.get_signed_cookie(COOKIE, salt=SALT, max_age=_age())
    except signing.BadSignature:
        raise BadGuestCookie(
            "This browser is not known as a guest any more: games without an account"
            " are deleted after some time. Begin a new one on the page Play, or sign in"
            " to find the games of your account."
        ) from None
    return Guest(key) if key else None


def player_of(request: HttpRequest) -> User | Guest | None:
    """Return who plays; None for a visitor. Raises BadGuestCookie."""
    return request.user if isinstance(request.user, User) else guest_of(request)


def remember(response: HttpResponse, guest: Guest) -> None:
    response.set_signed_cookie(
        COOKIE,
        guest.key,
        salt=SALT,
        max_age=_age(),
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def sign_in(request: HttpRequest, user: User, backend: str | None = None) -> None:
    """Open a session for a user, who keeps the games and the code of the guest."""
    sessions.sign_in(request, user, backend)
    try:
        guest = guest_of(request)
    except BadGuestCookie:
        return
    if guest is not None:
        guests.keep_games(guest, user)
        trials.keep(guest, user)


def _age() -> timedelta:
    return timedelta(days=settings.TORRES_KEEP_GUEST_DAYS)
