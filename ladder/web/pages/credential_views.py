"""The pages with which people create, secure and delete their accounts.

A session that was opened with a token changes nothing here (`ByPassword`).
"""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout, views as django_views
from django.contrib.auth.models import User
from django.forms import Form
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse_lazy
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.views import View
from django.views.decorators.cache import never_cache
from django.views.generic import FormView

from ladder.accounts import addresses, invitations, sessions
from ladder.accounts.sign_up_mode import SignUpMode, current_mode
from ladder.common.rate_limits import WIDER
from ladder.moderation import bots as moderation
from ladder.moderation.audit import Operator
from ladder.web.api import problems
from ladder.web.api.throttles import too_often
from ladder.web.destinations import account_url, destination, query
from ladder.web.pages import account_forms as forms, github_sign_up, guest_cookie
from ladder.web.pages.account_views import SignedInView

UNPROCESSABLE = 422
WHY_DELETED = "The owner deleted the account on its page."


@method_decorator(never_cache, "dispatch")
class SignUpPage(View):
    """Creates an account, signs its owner in, and shows the page of the account."""

    def get(self, request: HttpRequest) -> HttpResponse:
        if request.user.is_authenticated:
            return redirect(destination(request))
        if current_mode() == SignUpMode.CLOSED:
            return render(request, "web/sign-up-closed.html")
        code = request.GET.get("invitation", "")
        account = github_sign_up.pending_account(request)
        name = account.login if account else ""
        form = forms.SignUpForm(initial={"invitation": code, "username": name})
        context = {"form": form, "github": account}
        return render(request, "web/sign-up.html", context)

    def post(self, request: HttpRequest) -> HttpResponse:
        if request.user.is_authenticated:
            return redirect(destination(request))
        if current_mode() == SignUpMode.CLOSED:
            return render(request, "web/sign-up-closed.html", status=403)
        if refusal := _too_many_sign_ups(request):
            return refusal
        form = forms.SignUpForm(request.POST)
        user = form.create() if form.is_valid() else None
        if user is None:
            context = {"form": form, "github": github_sign_up.pending_account(request)}
            return render(request, "web/sign-up.html", context, status=UNPROCESSABLE)
        account = github_sign_up.pending_account(request)
        guest_cookie.sign_in(request, user, sessions.PASSWORD_BACKEND)
        github_sign_up.link_new_user(request, user, account)
        messages.success(
            request,
            _(
                "Your account is ready. Your name above leads to its page, where you"
                " create bots, and tokens for the torres command."
            ),
        )
        if form.cleaned_data.get("email"):
            _send_link(request, user, form.cleaned_data["email"])
        return redirect(destination(request))


def _too_many_sign_ups(request: HttpRequest) -> HttpResponse | None:
    """Count an attempt to sign up.

    People with the same valid invitation may sit behind one address, so theirs count
    for the invitation.
    """
    if current_mode() == SignUpMode.INVITATION:
        invitation = invitations.find(request.POST.get("invitation", ""))
        if invitation is not None:
            client = f"invitation:{invitation.pk}"
            return too_often(request, "sign-up", client, factor=WIDER)
    return too_often(request, "sign-up")


def _send_link(request: HttpRequest, user: User, address: str) -> None:
    page = request.build_absolute_uri(account_url(request, "confirm-email"))
    addresses.send_link(user, address, page)
    messages.success(
        request,
        f"We send a message to {address}. Open the link in it within one day. Until"
        " then the address is not used.",
    )


@method_decorator(never_cache, "dispatch")
class ConfirmAddressPage(View):
    """Confirms an address with the link of a message.

    The link only shows a button, because mail scanners open all links of a message.
    """

    def get(self, request: HttpRequest) -> HttpResponse:
        return self._page(request, request.GET.get("link", ""))

    def post(self, request: HttpRequest) -> HttpResponse:
        link = request.POST.get("link", "")
        try:
            new = addresses.confirm(link)
        except addresses.BadLink:
            return self._page(request, link)
        messages.success(
            request,
            _("The address %(address)s is confirmed.") % {"address": new.address},
        )
        if request.user.is_authenticated:
            return redirect(destination(request))
        return redirect(account_url(request, "sign-in"))

    def _page(self, request: HttpRequest, link: str) -> HttpResponse:
        context: dict[str, object] = {"link": link}
        try:
            context["new"] = addresses.read_link(link)
        except addresses.BadLink as refusal:
            context["refusal"] = str(refusal)
        return render(request, "web/confirm-email.html", context)


class MarksErrors:
    """Answers a form with errors with status 422, as the other pages do."""

    def form_invalid(self, form: Form) -> HttpResponse:
        response: HttpResponse = super().form_invalid(form)  # type: ignore[misc]
        response.status_code = UNPROCESSABLE
        return response


@method_decorator(never_cache, "dispatch")
class ForgottenPasswordPage(MarksErrors, django_views.PasswordResetView):
    """Sends a link for a new password. The answer is the same for every address."""

    template_name = "web/password-reset.html"
    email_template_name = "accounts/new-password.txt"
    form_class = forms.ForgottenPasswordForm

    def get_context_data(self, **kwargs: Any) -> dict[str, object]:
        mail = {"sends_mail": settings.TORRES_SENDS_MAIL}
        return super().get_context_data(**kwargs) | mail

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not settings.TORRES_SENDS_MAIL:
            return self.get(request)
        refusal = too_often(request, "sign-in")
        self.extra_email_context = {"next": destination(request)}
        return refusal or super().post(request, *args, **kwargs)

    def get_success_url(self) -> str:
        return account_url(self.request, "password-reset-sent")


class PasswordSentPage(django_views.PasswordResetDoneView):
    template_name = "web/password-reset-sent.html"


class SetsPassword(MarksErrors):
    """Gives Django's forms for passwords our labels, help and error.

    Django's texts address readers formally in Spanish and German, and its Portuguese is
    from Portugal.
    """

    def get_form(self, *args: Any) -> Any:
        form = super().get_form(*args)  # type: ignore[misc]
        for name, label in forms.PASSWORD_LABELS.items():
            if name in form.fields:
                form.fields[name].label = label
        form.fields["new_password1"].help_text = forms.PASSWORD_HELP
        texts = {"password_incorrect": forms.WRONG_PASSWORD}
        form.error_messages = form.error_messages | texts
        return form


class NewPasswordPage(SetsPassword, django_views.PasswordResetConfirmView):
    """Sets a new password with the link of a message."""

    template_name = "web/new-password.html"

    def dispatch(self, *args: Any, **kwargs: Any) -> HttpResponseBase:
        response = super().dispatch(*args, **kwargs)
        if kwargs["token"] != self.reset_url_token and isinstance(
            response, HttpResponseRedirect
        ):
            # Django takes the token out of the address, and the query with it.
            response["Location"] += f"?{query(destination(self.request))}"
        return response

    def get_success_url(self) -> str:
        return account_url(self.request, "sign-in")

    def form_valid(self, form: Any) -> HttpResponse:
        messages.success(
            self.request,
            _(
                "Your password is set. Sign in with it. Your tokens stay valid: revoke"
                " the ones that somebody else may know."
            ),
        )
        return super().form_valid(form)


class ByPassword(SignedInView):
    """A view that a session by token must not use.

    Otherwise a person who finds a token could take over the account, and keep it after
    the token has been revoked.
    """

    def why_forbidden(self, request: HttpRequest) -> str:
        if not sessions.is_by_token(request):
            return ""
        return (
            "You signed in with a token, and a token cannot change the account itself."
            " Sign out, and sign in with your password. If you have none, ask the"
            " operator to set one."
        )

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        refusal = too_often(request, "sign-in", f"user:{self.person().pk}")
        return refusal or super().post(request, *args, **kwargs)  # type: ignore[misc]


class PasswordPage(ByPassword, SetsPassword, django_views.PasswordChangeView):
    template_name = "web/password.html"
    success_url = reverse_lazy("me")

    def form_valid(self, form: Any) -> HttpResponse:
        messages.success(
            self.request,
            _(
                "Your password is changed, and your other sessions have ended. Your"
                " tokens stay valid."
            ),
        )
        return super().form_valid(form)


class OwnPasswordPage(ByPassword, MarksErrors, FormView[forms.OwnPasswordForm]):
    """A form that asks for the password of the account."""

    def get_form_kwargs(self) -> dict[str, object]:
        return super().get_form_kwargs() | {"user": self.person()}


class AddressPage(OwnPasswordPage):
    """Change the address of e-mail, or remove it."""

    template_name = "web/email.html"
    form_class = forms.AddressForm

    def form_valid(self, form: forms.OwnPasswordForm) -> HttpResponse:
        address = form.cleaned_data["email"]
        if address and not settings.TORRES_SENDS_MAIL:
            detail = "This service sends no mail, so it stores no address."
            return problems.answer(self.request, 403, "permission-denied", detail)
        if address:
            _send_link(self.request, self.person(), address)
        else:
            addresses.set_address(self.person(), "")
            messages.success(self.request, _("Your account has no address now."))
        return redirect("me")


class DeleteAccountPage(OwnPasswordPage):
    """Delete the own account, with everything that is only the owner's."""

    template_name = "web/delete-account.html"
    form_class = forms.DeleteAccountForm

    def get_context_data(self, **kwargs: Any) -> dict[str, object]:
        bots = self.person().bots.order_by("pk")
        return super().get_context_data(**kwargs) | {"bots": bots}

    def form_valid(self, form: forms.OwnPasswordForm) -> HttpResponse:
        moderation.delete_account(Operator(None, WHY_DELETED), self.person())
        logout(self.request)
        messages.success(self.request, _("Your account is deleted."))
        return redirect("home")
