"""Filters for the lists of bots and submissions."""

import django_filters as filters
from django.contrib.auth.models import User

from ladder.bots.models import Bot, Submission


def _is_true(choice: str) -> bool:
    return choice == "true"


class BotFilter(filters.FilterSet):
    owner = filters.ModelChoiceFilter(
        queryset=User.objects.all(), to_field_name="username"
    )
    house = filters.TypedChoiceFilter(
        choices=[("true", "true"), ("false", "false")], coerce=_is_true
    )
    status = filters.ChoiceFilter(choices=Bot.Status.choices)
    name = filters.CharFilter(lookup_expr="icontains", help_text="Part of the name.")

    class Meta:
        model = Bot
        fields = ["owner", "house", "status", "name"]


class SubmissionFilter(filters.FilterSet):
    status = filters.ChoiceFilter(choices=Submission.Status.choices)

    class Meta:
        model = Submission
        fields = ["status"]
