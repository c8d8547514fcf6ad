"""The forms with which people create, secure and delete their accounts."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.conf import settings
from django.contrib.auth import password_validation
from django.contrib.auth.forms import PasswordResetForm, UsernameField
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _
from django_stubs_ext import StrPromise

from ladder.accounts import mail, signing_up, user_names
from ladder.accounts.invitations import MAX_CODE_LENGTH, BadInvitation
from ladder.accounts.sign_up_mode import SignUpMode, current_mode
from ladder.common.stored_texts import translated
from torres.common.errors import LadderError

MAX_PASSWORD_LENGTH = 200
MAX_ADDRESS_LENGTH = 254
MAX_ACCOUNTS_OF_ADDRESS = 5  # that get mail if somebody asks for a new password
PASSWORD_HELP = _("At least 8 characters, not only digits, and no common password.")
PASSWORD_LABELS = {
    "old_password": _("Your password"),
    "new_password1": _("New password"),
    "new_password2": _("The same password again"),
}
WRONG_PASSWORD = _("This is not your password. Enter the password of this account.")


def password_field(
    label: str | StrPromise, autocomplete: str, **options: Any
) -> forms.CharField:
    """Return a field for a password; ``autocomplete`` tells browsers which one."""
    widget = forms.PasswordInput(attrs={"autocomplete": autocomplete})
    return forms.CharField(
        label=label,
        strip=False,
        max_length=MAX_PASSWORD_LENGTH,
        widget=widget,
        **options,
    )


class SignUpForm(forms.Form):
    """Create an account. Without mail there is no field for an address."""

    username = UsernameField(
        max_length=user_names.MAX_LENGTH,
        label=_("User name"),
        help_text=_("Letters, digits and the characters @ . + - _"),
    )
    email = forms.EmailField(
        required=False,
        max_length=MAX_ADDRESS_LENGTH,
        label=_("E-mail (optional)"),
        help_text=_(
            "Only for a new password if you forget yours. Nobody else sees it."
        ),
        widget=forms.EmailInput(attrs={"autocomplete": "email"}),
    )
    password = password_field(
        _("Password"),
        "new-password",
        help_text=PASSWORD_HELP,
    )
    again = password_field(_("The same password again"), "new-password")
    invitation = forms.CharField(
        max_length=MAX_CODE_LENGTH,
        label=_("Invitation code"),
        help_text=_("The operator of this service gives you one."),
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    user: User | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not settings.TORRES_SENDS_MAIL:
            del self.fields["email"]
        if current_mode() != SignUpMode.INVITATION:
            del self.fields["invitation"]

    def clean_username(self) -> str:
        name: str = self.cleaned_data["username"]
        try:
            name = user_names.clean_user_name(name)
            user_names.check_not_reserved(name)
        except LadderError as refusal:
            raise ValidationError(translated(str(refusal))) from refusal
        return name

    def clean(self) -> None:
        fields = self.cleaned_data
        if "password" not in fields:
            return
        if fields.get("again", fields["password"]) != fields["password"]:
            self.add_error(
                "again", _("The two passwords differ. Enter the same again.")
            )
        user = User(username=fields.get("username", ""), email=fields.get("email", ""))
        try:
            password_validation.validate_password(fields["password"], user)
        except ValidationError as error:
            self.add_error("password", error)

    def create(self) -> User | None:
        """Create the account. If that is refused, add the error to its field."""
        fields = self.cleaned_data
        try:
            return signing_up.sign_up(
                fields["username"], fields["password"], fields.get("invitation", "")
            )
        except BadInvitation as refusal:
            self.add_error("invitation", translated(str(refusal)))
        except LadderError as refusal:
            self.add_error("username", translated(str(refusal)))
        return None


class OwnPasswordForm(forms.Form):
    """Asks for the password before a change that a stranger must not make."""

    password = password_field(_("Your password"), "current-password")

    def __init__(self, user: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = user

    def clean_password(self) -> str:
        password: str = self.cleaned_data["password"]
        if not self.user.check_password(password):
            raise ValidationError(WRONG_PASSWORD)
        return password


class DeleteAccountForm(OwnPasswordForm):
    """Confirms the deletion of an account."""


class AddressForm(OwnPasswordForm):
    """Change or remove the address of an account."""

    email = forms.EmailField(
        required=False,
        max_length=MAX_ADDRESS_LENGTH,
        label=_("New address"),
        help_text=_("Leave it empty to remove your address."),
        widget=forms.EmailInput(attrs={"autocomplete": "email"}),
    )
    field_order = ("email", "password")


class ForgottenPasswordForm(PasswordResetForm):
    """Sends a link to the accounts with a confirmed address."""

    email = forms.EmailField(
        max_length=MAX_ADDRESS_LENGTH,
        label=_("Address of e-mail"),
        widget=forms.EmailInput(attrs={"autocomplete": "email"}),
    )

    def get_users(self, email: str) -> Iterable[User]:
        """Return the accounts with an address, also those without a password.

        The owner of the mailbox may set the first password of an account.
        """
        active = User.objects.filter(email__iexact=email, is_active=True)
        rows = active.order_by("pk")[:MAX_ACCOUNTS_OF_ADDRESS]
        return [user for user in rows if user.email.casefold() == email.casefold()]

    def send_mail(
        self,
        subject_template_name: str,
        email_template_name: str,
        context: dict[str, Any],
        from_email: str | None,
        to_email: str,
        html_email_template_name: str | None = None,
    ) -> None:
        mail.send_later(to_email, email_template_name, context)
