"""What signed-in people fill in."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.contrib.auth import authenticate
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError

from ladder.bots.models import Bot


class SignInForm(forms.Form):
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


class NewBotForm(forms.Form):
    name = forms.CharField(max_length=64, label="Name of a new bot")


class UploadForm(forms.Form):
    archive = forms.FileField(
        allow_empty_file=True, label="A zip, a tar.gz, or one source file"
    )


class ChallengeForm(forms.Form):
    """One's own bot, up to three others by their slugs, and one's own seat."""

    bot = forms.ChoiceField(label="Your bot")
    one = forms.SlugField(label="Against", max_length=64)
    two = forms.SlugField(label="and", max_length=64, required=False)
    three = forms.SlugField(label="and", max_length=64, required=False)
    seat = forms.TypedChoiceField(coerce=int, label="Your seat", initial=0)

    def __init__(
        self, mine: Iterable[Bot], tables: Iterable[str], *args: Any, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        most = max(map(int, tables))
        self._choices("bot", [(bot.slug, bot.name) for bot in mine])
        self._choices("seat", [(str(k), str(k)) for k in range(most)])
        for name in ("two", "three")[most - 2 :]:
            del self.fields[name]
        for name in {"one", "two", "three"} & self.fields.keys():
            attrs = self.fields[name].widget.attrs
            attrs |= {"list": "bots", "autocomplete": "off", "spellcheck": "false"}

    def _choices(self, name: str, choices: list[tuple[str, str]]) -> None:
        field = self.fields[name]
        if isinstance(field, forms.ChoiceField):
            field.choices = choices

    def seats(self) -> list[str]:
        """Return the bots in the order of the seats."""
        given = self.cleaned_data
        seats = [given[k] for k in ("one", "two", "three") if given.get(k)]
        seats.insert(given["seat"], given["bot"])
        return seats


class NewTokenForm(forms.Form):
    name = forms.CharField(max_length=64, label="What the token is for")
