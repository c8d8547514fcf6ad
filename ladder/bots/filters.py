"""What lists of bots and submissions may be filtered by."""

import django_filters as filters
from django.contrib.auth.models import User

from ladder.bots.models import Bot, Submission


class BotFilter(filters.FilterSet):
    owner = filters.ModelChoiceFilter(
        queryset=User.objects.all(), to_field_name="username"
    )
    house = filters.TypedChoiceFilter(
        choices=[("true", "true"), ("false", "false")], coerce="true".__eq__
    )
    status = filters.ChoiceFilter(choices=Bot.Status.choices)
    name = filters.CharFilter(lookup_expr="icontains", help_text="A part of the name.")

    class Meta:
        model = Bot
        fields = ["owner", "house", "status", "name"]


class SubmissionFilter(filters.FilterSet):
    status = filters.ChoiceFilter(choices=Submission.Status.choices)

    class Meta:
        model = Submission
        fields = ["status"]
