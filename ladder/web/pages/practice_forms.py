"""The form in which a person chooses a game by hand."""

from typing import Any

from django import forms
from django.utils.translation import gettext, gettext_lazy as _

from engine.editions import DEFAULT, PRESETS
from ladder.bots.models import Submission
from ladder.extras.practice.guests import FAVOURITE
from ladder.extras.practice.selectors import Opponents
from ladder.extras.practice.services import PracticeTerms
from ladder.games.models import MAX_SEATS
from ladder.web.pages.forms import ChoicesForm

RANDOM_SEAT = "random"
OPPONENT_FIELDS = ("one", "two", "three")


class PracticeForm(ChoicesForm):
    """Choose the rules, a seat, and one to three bots by their submissions."""

    one = forms.TypedChoiceField(coerce=int, label=_("Against"))
    two = forms.TypedChoiceField(
        coerce=int, label=_("and"), required=False, empty_value=None
    )
    three = forms.TypedChoiceField(
        coerce=int, label=_("and"), required=False, empty_value=None
    )
    seat = forms.ChoiceField(label=_("Your seat"), initial=RANDOM_SEAT)
    ruleset = forms.ChoiceField(
        label=_("Rules"),
        choices=[(key, _(preset.name)) for key, preset in PRESETS.items()],
        initial=DEFAULT,
    )
    start = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(
        self, opponents: Opponents, *args: Any, start: str = "", **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        by_chance = gettext("by chance")
        if start:  # the position has the rules
            by_chance = gettext("the one that decides")
            self.initial["start"] = start
            self.fields["ruleset"].required = False
            self.fields["ruleset"].widget = forms.HiddenInput()
        groups = [
            (gettext("House bots"), opponents.house),
            (gettext("Your bots"), opponents.own),
            (gettext("Bots of others"), opponents.others),
        ]
        offered: list[Any] = [
            (title, [(str(one.pk), _label(one)) for one in group])
            for title, group in groups
            if group
        ]
        seats = [
            (str(seat), gettext("seat %(seat)s") % {"seat": seat})
            for seat in range(MAX_SEATS)
        ]
        self.set_choices("one", offered)
        self.set_choices("two", [("", gettext("nobody")), *offered])
        self.set_choices("three", [("", gettext("nobody")), *offered])
        self.set_choices("seat", [(RANDOM_SEAT, by_chance), *seats])
        favourite = (one.pk for one in opponents.house if one.bot.slug == FAVOURITE)
        self.initial.setdefault("one", next(favourite, None))

    def terms(self) -> PracticeTerms:
        fields = self.cleaned_data
        chosen = [fields[name] for name in OPPONENT_FIELDS if fields.get(name)]
        seat = fields["seat"]
        number = None if seat == RANDOM_SEAT else int(seat)
        return PracticeTerms(fields["ruleset"], chosen, number, fields["start"])


def _label(submission: Submission) -> str:
    if submission.bot.house:
        return submission.bot.name
    return f"{submission.bot.name} #{submission.number}"
