"""A person who came from GitHub and has no account here yet, kept in the session."""

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest

from ladder.accounts import github
from ladder.accounts.github import GitHubAccount
from torres.common.errors import LadderError

KEY = "github_new"


def remember(request: HttpRequest, account: GitHubAccount) -> None:
    request.session[KEY] = list(account)


def pending_account(request: HttpRequest) -> GitHubAccount | None:
    """Return the GitHub account of a person who is about to sign up; None without."""
    stored = request.session.get(KEY) if github.is_on() else None
    return GitHubAccount(*stored) if stored else None


def link_new_user(
    request: HttpRequest, user: User, account: GitHubAccount | None
) -> None:
    """Link the GitHub account with which a person has signed up, if there is one."""
    if account is None:
        return
    try:
        github.link(user, account)
    except LadderError as refusal:  # somebody else has linked it meanwhile
        messages.error(request, str(refusal))
