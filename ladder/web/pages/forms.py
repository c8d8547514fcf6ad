"""The forms of the pages."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.contrib.auth import authenticate
from django.contrib.auth.forms import UsernameField
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy as _

from ladder.accounts import scopes
from ladder.accounts.scopes import Scope
from ladder.bots.models import Bot
from ladder.common.stored_texts import translated
from ladder.web.api import bot_search


class ChoicesForm(forms.Form):
    """A form whose choices depend on the person or the service."""

    def set_choices(self, name: str, choices: list[Any]) -> None:
        field = self.fields[name]
        if isinstance(field, forms.ChoiceField):
            field.choices = choices


class SignInForm(forms.Form):
    """Sign in with a token, or with a user name and a password."""

    token = forms.CharField(
        required=False,
        max_length=200,
        label=_("Token"),
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
    )
    username = UsernameField(required=False, max_length=150, label=_("User name"))
    password = forms.CharField(
        required=False,
        max_length=200,
        strip=False,
        label=_("Password"),
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )
    user: User | None = None

    def clean(self) -> None:
        fields = self.cleaned_data
        name, password = fields.get("username"), fields.get("password")
        user = None
        if fields.get("token"):
            user = authenticate(token=fields["token"])
        elif name and password:  # otherwise nothing is hashed
            user = authenticate(username=name, password=password)
        if not isinstance(user, User):
            raise ValidationError(
                _("The token, or the user name and password, are not valid.")
            )
        self.user = user


class NewBotForm(forms.Form):
    name = forms.CharField(max_length=64, label=_("Name of a new bot"))


class UploadForm(forms.Form):
    archive = forms.FileField(
        allow_empty_file=True, label=_("A zip, a tar.gz, or one source file")
    )


class ReplayForm(forms.Form):
    replay = forms.FileField(
        label=_("A replay file (JSON)"),
        widget=forms.FileInput(attrs={"accept": ".json,application/json"}),
    )


class BotField(forms.CharField):
    """The name or the slug of a bot; its value is the slug."""

    def clean(self, value: Any) -> str:
        text: str = super().clean(value)
        if not text:
            return ""
        bot = bot_search.find(text)
        if bot is None:
            raise ValidationError(translated(bot_search.no_such_bot(text)))
        return bot.slug


class ChallengeForm(ChoicesForm):
    """Choose an own bot, its seat, and one to three opponents by names or slugs.

    `search` is the address that suggests opponents. `tables` holds the permitted
    numbers of seats as texts: `Ladder.table_sizes`.
    """

    OPPONENTS = ("one", "two", "three")

    bot = forms.ChoiceField(label=_("Your bot"))
    one = BotField(label=_("Against"), max_length=64)
    two = BotField(label=_("and"), max_length=64, required=False)
    three = BotField(label=_("and"), max_length=64, required=False)
    seat = forms.TypedChoiceField(coerce=int, label=_("Your seat"), initial=0)

    def __init__(
        self,
        mine: Iterable[Bot],
        tables: Iterable[str],
        *args: Any,
        search: str = "",
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        max_seats = max(map(int, tables), default=2)
        self.set_choices("bot", [(bot.slug, bot.name) for bot in mine])
        seats = [str(seat) for seat in range(max_seats)]
        self.set_choices("seat", [(seat, seat) for seat in seats])
        for number, name in enumerate(self.OPPONENTS, start=1):
            if number >= max_seats:
                del self.fields[name]
                continue
            attrs = self.fields[name].widget.attrs
            attrs |= {"list": "bots", "autocomplete": "off", "spellcheck": "false"}
            attrs["data-search"] = search

    def seats(self) -> list[str]:
        """Return the slugs of all bots in the order of their seats."""
        fields = self.cleaned_data
        slugs: list[str] = [fields[k] for k in self.OPPONENTS if fields.get(k)]
        slugs.insert(fields["seat"], fields["bot"])
        return slugs


class NewTokenForm(forms.Form):
    LIFETIMES = (
        ("", _("never")),
        ("1", _("in a day")),
        ("30", _("in 30 days")),
        ("365", _("in a year")),
    )

    name = forms.CharField(
        max_length=64,
        label=_("What the token is for"),
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    days = forms.ChoiceField(choices=LIFETIMES, required=False, label=_("It expires"))
    scopes = forms.MultipleChoiceField(
        required=False,
        label=_("What it may do"),
        widget=forms.CheckboxSelectMultiple,
        initial=scopes.names(scopes.DEFAULT),
    )

    def __init__(self, user: User, *args: Any, **kwargs: Any) -> None:
        """Offer what the session of the user permits, and `operate` to operators."""
        super().__init__(*args, **kwargs)
        offered = scopes.of_user(user)
        if not user.is_staff:
            offered &= ~Scope.OPERATE
        field = self.fields["scopes"]
        if isinstance(field, forms.MultipleChoiceField):
            field.choices = [
                (name, f"{name}: {gettext(scopes.MEANINGS[scopes.parse([name])])}")
                for name in scopes.names(offered)
            ]

    def permitted(self) -> Scope:
        """Return the chosen scopes; without a choice the usual ones."""
        return scopes.parse(self.cleaned_data["scopes"]) or scopes.DEFAULT

    def expires_at(self, limit: datetime | None) -> datetime | None:
        """Return when the token expires: not later than `limit`. None for never."""
        days = self.cleaned_data["days"]
        if not days:
            return limit
        chosen = timezone.now() + timedelta(days=int(days))
        return min(chosen, limit) if limit else chosen
