"""Filters of lists whose errors name the wrong value."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import django_filters as filters
from django import forms
from django.core.exceptions import ValidationError
from django_filters.fields import ChoiceField, ModelChoiceField
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field

from torres.common.moments import MOMENT_HINT, parse_moment
from torres.common.quoting import quoted

MAX_COUNT = 10**6
MAX_COUNT_DIGITS = 9  # int() of thousands of digits is slow


class NamedRowField(ModelChoiceField):
    """A row by its name. Its error is "There is no bot 'nobody'."."""

    def to_python(self, value: Any) -> Any:
        try:
            return super().to_python(value)
        except ValidationError as error:
            if error.code != "invalid_choice":
                raise
            noun = self.queryset.model._meta.verbose_name  # noqa: SLF001
            raise ValidationError(
                "There is no %(noun)s %(value)s.",
                code="invalid_choice",
                params={"noun": noun, "value": quoted(value)},
            ) from None


@extend_schema_field(OpenApiTypes.STR)
class NamedRowFilter(filters.ModelChoiceFilter):
    """A filter whose value is the name of a row. Refuses an unknown name."""

    field_class = NamedRowField


class OneOfField(ChoiceField):
    """One of some words. Its error names the wrong value and lists the right ones."""

    def validate(self, value: Any) -> None:
        try:
            super().validate(value)
        except ValidationError as error:
            if error.code != "invalid_choice":
                raise
            known = ", ".join(str(key) for key, _ in self.choices if key)
            raise ValidationError(
                "%(value)s is not known. Use one of: %(known)s.",
                code="invalid_choice",
                params={"value": quoted(value), "known": known},
            ) from None


class OneOfFilter(filters.ChoiceFilter):
    """A filter whose value is one of some words or numbers."""

    field_class = OneOfField

    def __init__(self, words: Sequence[str | int], **options: Any) -> None:
        choices = [(word, str(word)) for word in words]
        super().__init__(choices=choices, **options)


class CountField(forms.Field):
    """A whole number from 1 to MAX_COUNT."""

    def to_python(self, value: Any) -> int | None:
        if value in self.empty_values:
            return None
        digits = value.isascii() and value.isdigit()
        if not (digits and 1 <= int(value[:MAX_COUNT_DIGITS]) <= MAX_COUNT):
            message = f"Enter a number from 1 to {MAX_COUNT}."
            raise ValidationError(message, code="invalid")
        return int(value[:MAX_COUNT_DIGITS])


class CountFilter(filters.Filter):
    """A filter whose value is a whole number."""

    field_class = CountField


class MomentField(forms.Field):
    """A date or a time, as a moment in UTC."""

    def to_python(self, value: Any) -> datetime | None:
        if value in self.empty_values:
            return None
        moment = parse_moment(value)
        if moment is None:
            raise ValidationError(MOMENT_HINT, code="invalid")
        return moment


class MomentFilter(filters.Filter):
    """A filter whose value is a date or a time."""

    field_class = MomentField
