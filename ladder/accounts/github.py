"""Sign-in with GitHub, if the operator has registered an OAuth app there.

GitHub is a second way into an account of this service, and never the only one: a person
who signs up with it also chooses a password. So names, invitations, deletion and the
rules of passwords are the same for all users (decision 109).

The flow follows RFC 6749, section 4.1, with PKCE (RFC 7636). It asks for no scope,
because the public profile is enough.
"""

import secrets
from typing import NamedTuple

import httpx
from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from oauthlib.oauth2 import OAuth2Error, WebApplicationClient

from ladder.accounts.models import GitHubIdentity
from torres.common.errors import LadderError

GITHUB = "https://github.com"
TIMEOUT_S = 10.0
VERIFIER_CHARS = 64
CHALLENGE = "S256"
JSON = {"Accept": "application/json"}
MAX_LOGIN_CHARS = 100


class GitHubFailed(LadderError, code="github-failed", http_status=502):
    """GitHub did not answer, or not as its documentation says."""


class GitHubTaken(LadderError, code="github-taken", http_status=409):
    """The account at GitHub belongs to another user."""


class GitHubAccount(NamedTuple):
    """The account at GitHub: its number never changes, but its login may."""

    number: int
    login: str


class PendingSignIn(NamedTuple):
    """The secrets that the session holds while a person is at GitHub."""

    state: str
    verifier: str


def is_on() -> bool:
    """True if the operator has configured sign-in with GitHub."""
    return bool(settings.TORRES_GITHUB_CLIENT)


def begin(callback: str) -> tuple[str, PendingSignIn]:
    """Return the address at GitHub for a new sign-in, and what to remember of it.

    `callback` is the address of this service to which GitHub sends the person back.
    """
    client = WebApplicationClient(settings.TORRES_GITHUB_CLIENT)
    pending = PendingSignIn(
        secrets.token_urlsafe(), client.create_code_verifier(VERIFIER_CHARS)
    )
    address = client.prepare_request_uri(
        f"{settings.TORRES_GITHUB_URL}/login/oauth/authorize",
        redirect_uri=callback,
        state=pending.state,
        code_challenge=client.create_code_challenge(pending.verifier, CHALLENGE),
        code_challenge_method=CHALLENGE,
    )
    return address, pending


def finish(callback: str, code: str, pending: PendingSignIn) -> GitHubAccount:
    """Return who signed in. The caller has compared the state. Raises GitHubFailed."""
    try:
        with httpx.Client(headers=JSON, timeout=TIMEOUT_S) as http:
            token = _token(http, callback, code, pending.verifier)
            headers = {"Authorization": f"Bearer {token}"}
            response = http.get(f"{_api()}/user", headers=headers)
            response.raise_for_status()
            profile = response.json()
        login = str(profile["login"])[:MAX_LOGIN_CHARS]
        return GitHubAccount(int(profile["id"]), login)
    except (OAuth2Error, httpx.HTTPError, ValueError, KeyError, TypeError) as why:
        raise GitHubFailed(
            "GitHub did not confirm who you are. Try again, or sign in with your"
            " password."
        ) from why


def _token(http: httpx.Client, callback: str, code: str, verifier: str) -> str:
    client = WebApplicationClient(settings.TORRES_GITHUB_CLIENT)
    body = client.prepare_request_body(
        code, callback, include_client_id=False, code_verifier=verifier
    )
    response = http.post(
        f"{settings.TORRES_GITHUB_URL}/login/oauth/access_token",
        content=body,
        headers={"Content-Type": "application/x-www-form-urlencoded"},
        auth=(settings.TORRES_GITHUB_CLIENT, settings.TORRES_GITHUB_SECRET),
    )
    response.raise_for_status()
    answer = client.parse_request_body_response(response.text)
    return str(answer["access_token"])


def user_of(account: GitHubAccount) -> User | None:
    """Return the user who has linked a GitHub account; None if nobody has."""
    found = GitHubIdentity.objects.filter(number=account.number).select_related("user")
    identity = found.first()
    return identity.user if identity else None


def link(user: User, account: GitHubAccount) -> None:
    """Let a user sign in with a GitHub account.

    Raises GitHubTaken if the GitHub account belongs to another user here, or if the
    user has linked another GitHub account.
    """
    taken = GitHubTaken(
        f"The GitHub account {account.login} is linked with another account here, or"
        " yours with another one at GitHub. Remove that link first."
    )
    try:
        with transaction.atomic():
            identity, is_new = GitHubIdentity.objects.get_or_create(
                user=user,
                defaults={"number": account.number, "login": account.login},
            )
    except IntegrityError:
        raise taken from None
    if not is_new and identity.number != account.number:
        raise taken


def unlink(user: User) -> None:
    """End the sign-in with GitHub of a user. The password stays."""
    GitHubIdentity.objects.filter(user=user).delete()


def _api() -> str:
    """Return the address of the REST API. An enterprise server has it below itself."""
    if settings.TORRES_GITHUB_URL == GITHUB:
        return "https://api.github.com"
    return f"{settings.TORRES_GITHUB_URL}/api/v3"
