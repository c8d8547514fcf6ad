"""Sign-in with GitHub: to GitHub, back from it, and the link with an account."""

import secrets
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.views import View
from django.views.decorators.cache import never_cache

from ladder.accounts import github, sessions
from ladder.accounts.github import GitHubAccount, PendingSignIn
from ladder.accounts.sign_up_mode import SignUpMode, current_mode
from ladder.web.api.throttles import too_often
from ladder.web.destinations import account_url, destination
from ladder.web.pages import github_sign_up, guest_cookie
from ladder.web.pages.credential_views import ByPassword
from torres.common.errors import LadderError

PENDING = "github_pending"
NEXT = "github_next"
MAX_CODE_CHARS = 200


@method_decorator(never_cache, "dispatch")
class GitHubView(View):
    """A view that does not exist unless the operator has configured GitHub."""

    def dispatch(
        self, request: HttpRequest, *args: Any, **kwargs: Any
    ) -> HttpResponseBase:
        if not github.is_on():
            raise Http404
        return super().dispatch(request, *args, **kwargs)


class GitHubSignIn(GitHubView):
    """Sends a person to GitHub.

    It is a link and no form, because the policy `form-action 'self'` would block the
    redirect of a form.
    """

    def get(self, request: HttpRequest) -> HttpResponse:
        address, pending = github.begin(_callback(request))
        request.session[PENDING] = list(pending)
        request.session[NEXT] = destination(request)
        return redirect(address)


class GitHubCallback(GitHubView):
    """Takes a person back from GitHub: signs in, links the account, or signs up."""

    def get(self, request: HttpRequest) -> HttpResponse:
        refusal = too_often(request, "sign-in")
        if refusal:
            return refusal
        pending = PendingSignIn(*request.session.pop(PENDING, ("", "")))
        target = request.session.pop(NEXT, settings.LOGIN_REDIRECT_URL)
        state = request.GET.get("state", "")
        known = secrets.compare_digest(state.encode(), pending.state.encode())
        if not pending.state or not known:
            return _refused(request, target, "This sign-in has expired. Begin again.")
        code = request.GET.get("code", "")[:MAX_CODE_CHARS]
        if not code:
            return _refused(request, target, "You did not let GitHub say who you are.")
        try:
            account = github.finish(_callback(request), code, pending)
            if isinstance(request.user, User):
                return _link(request, request.user, account, target)
        except LadderError as error:
            return _refused(request, target, str(error))
        return _enter(request, account, target)


class GitHubUnlink(ByPassword):
    """Ends the sign-in with GitHub of the person."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        github.unlink(self.person())
        messages.success(
            request, _("GitHub no longer signs you in. Use your password.")
        )
        return redirect("me")


def _callback(request: HttpRequest) -> str:
    return request.build_absolute_uri(reverse("github-callback"))


def _refused(request: HttpRequest, target: str, why: str) -> HttpResponse:
    messages.error(request, why)
    if request.user.is_authenticated:
        return redirect(target)
    return redirect(account_url(request, "sign-in", target))


def _link(
    request: HttpRequest, user: User, account: GitHubAccount, target: str
) -> HttpResponse:
    if sessions.is_by_token(request):
        return _refused(
            request,
            target,
            "You signed in with a token, and a token cannot change the account itself."
            " Sign in with your password to link GitHub.",
        )
    github.link(user, account)
    messages.success(
        request,
        _("%(login)s at GitHub can sign you in from now on.")
        % {"login": account.login},
    )
    return redirect(target)


def _enter(request: HttpRequest, account: GitHubAccount, target: str) -> HttpResponse:
    user = github.user_of(account)
    if user is not None and user.is_active:
        guest_cookie.sign_in(request, user, sessions.PASSWORD_BACKEND)
        return redirect(target)
    if user is not None:
        why = "Your account is deactivated. Ask the operator."
        return _refused(request, target, why)
    if current_mode() == SignUpMode.CLOSED:
        return _refused(
            request,
            target,
            f"No account here is linked with {account.login} at GitHub. Sign in with"
            " your password, then link GitHub on your page.",
        )
    github_sign_up.remember(request, account)
    return redirect(account_url(request, "sign-up", target))
