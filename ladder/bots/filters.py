"""Filters for the lists of bots and submissions."""

import django_filters as filters
from django.contrib.auth.models import User
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field

from ladder.bots.models import Bot, Submission
from ladder.common.filters import NamedRowFilter, OneOfFilter


def _is_true(choice: str) -> bool:
    return choice == "true"


class BotFilter(filters.FilterSet):
    owner = NamedRowFilter(queryset=User.objects.all(), to_field_name="username")
    house = extend_schema_field(OpenApiTypes.BOOL)(
        filters.TypedChoiceFilter(
            choices=[("true", "true"), ("false", "false")], coerce=_is_true
        )
    )
    status = OneOfFilter(Bot.Status.values)
    name = filters.CharFilter(lookup_expr="icontains", help_text="Part of the name.")

    class Meta:
        model = Bot
        fields = ["owner", "house", "status", "name"]


class SubmissionFilter(filters.FilterSet):
    status = OneOfFilter(Submission.Status.values)

    class Meta:
        model = Submission
        fields = ["status"]
