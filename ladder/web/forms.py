"""What signed-in people fill in."""

from django import forms
from django.contrib.auth import authenticate
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError


class SignIn(forms.Form):
    """A token, or a name with a password."""

    token = forms.CharField(
        required=False,
        max_length=200,
        label="Token",
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )
    username = forms.CharField(required=False, max_length=150, label="Name")
    password = forms.CharField(
        required=False, max_length=200, widget=forms.PasswordInput, label="Password"
    )
    user: User | None = None

    def clean(self) -> None:
        given = self.cleaned_data
        if given.get("token"):
            found = authenticate(token=given["token"])
        else:
            found = authenticate(
                username=given.get("username", ""), password=given.get("password", "")
            )
        if not isinstance(found, User):
            raise ValidationError("That is no valid token, or not this password.")
        self.user = found


class NewBot(forms.Form):
    name = forms.CharField(max_length=64, label="Name of a new bot")


class Upload(forms.Form):
    archive = forms.FileField(
        allow_empty_file=True, label="A zip, a tar.gz, or one source file"
    )


class NewToken(forms.Form):
    name = forms.CharField(max_length=64, label="What the token is for")
