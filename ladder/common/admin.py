"""Admin pages for rows that only services may write."""

from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.widgets import AutocompleteSelect
from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.db import models
from django.db.models import ForeignKey, ManyToManyField, Q, QuerySet
from django.forms import JSONField, ModelChoiceField, ModelMultipleChoiceField
from django.forms.fields import InvalidJSONInput
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.functional import cached_property

MAX_COUNTED_ROWS = 10_000
"""A list counts and shows this number of rows. Search and filters lead to others."""
MAX_KEY = 2**63 - 1


def is_key(text: str) -> bool:
    """True if a text is a number that a column of keys can hold."""
    digits = text.isascii() and text.isdigit()
    # Python refuses to read thousands of digits.
    return digits and len(text) <= len(str(MAX_KEY)) and int(text) <= MAX_KEY


class BoundedPaginator(Paginator[Any]):
    """Counts at most MAX_COUNTED_ROWS: to count a million rows takes seconds."""

    @cached_property
    def count(self) -> int:
        rows = self.object_list
        if isinstance(rows, QuerySet):
            return int(rows.order_by()[:MAX_COUNTED_ROWS].count())
        return len(rows)


class DocumentField(JSONField):
    """A JSON document. Django's own field fails with a number of 5,000 digits."""

    def to_python(self, value: Any) -> Any:
        try:
            return super().to_python(value)
        except ValueError as error:  # Python reads at most 4,300 digits
            raise ValidationError(
                "This document has a number with too many digits.", code="invalid"
            ) from error

    def bound_data(self, data: Any, initial: Any) -> Any:
        try:
            return super().bound_data(data, initial)
        except ValueError:
            return InvalidJSONInput(data)


class ChecksInput(admin.ModelAdmin[Any]):
    """Refuses values with which Django's own pages fail. All other classes use it."""

    formfield_overrides = {models.JSONField: {"form_class": DocumentField}}

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        # PostgreSQL stores no such character, so comparing with it is an error.
        if any("\0" in value for _, values in request.GET.lists() for value in values):
            text = "This address has a character that no row has. Here are all rows."
            self.message_user(request, text, messages.ERROR)
            return redirect(request.path)
        return super().changelist_view(request, extra_context)

    def response_action(
        self, request: HttpRequest, *args: Any, **kwargs: Any
    ) -> HttpResponse | None:
        keys = request.POST.getlist(ACTION_CHECKBOX_NAME)
        if all(is_key(key) for key in keys):
            return super().response_action(request, *args, **kwargs)
        text = "A selected row has no valid key. Select rows of the list."
        self.message_user(request, text, messages.ERROR)
        return redirect(request.get_full_path())


class ReadOnly(ChecksInput):
    """Shows rows. Operators change them by actions only, which call services.

    `key_fields` are columns of numbers. If the search is for a number, only they are
    compared, because an index leads to the row; otherwise `search_fields` are. Columns
    in `unlisted` are large, so a list does not read them.
    """

    paginator = BoundedPaginator
    show_full_result_count = False
    key_fields: tuple[str, ...] = ()
    unlisted: tuple[str, ...] = ()

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).defer(*self.unlisted)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        word = search_term.strip()
        if not (self.key_fields and word):
            return super().get_search_results(request, queryset, search_term)
        if is_key(word):
            return queryset.filter(self.key_condition(int(word))), False
        if set(self.search_fields) <= set(self.key_fields):
            return queryset.none(), False
        return self.search_texts(request, queryset, word)

    def key_condition(self, number: int) -> Q:
        """Return the condition that one of the key fields has this number."""
        condition = Q(pk__in=[])
        for name in self.key_fields:
            condition |= Q(**{name: number})
        return condition

    def search_texts(
        self, request: HttpRequest, queryset: QuerySet[Any], word: str
    ) -> tuple[QuerySet[Any], bool]:
        """Search for what is no number. The result says if rows may appear twice."""
        return super().get_search_results(request, queryset, word)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return [field.name for field in self.model._meta.fields]  # noqa: SLF001 - documented by Django


class KeySelect(AutocompleteSelect):
    """A search box for a row. Django's own fails with a value that is no number."""

    def optgroups(
        self, name: str, value: Any, attrs: dict[str, Any] | None = None
    ) -> list[Any]:
        keys = [key for key in value if is_key(str(key))]
        return super().optgroups(name, keys, attrs)


class SearchesRows(ChecksInput):
    """Shows a search box for the foreign keys in `autocomplete_fields`."""

    def formfield_for_foreignkey(
        self, db_field: ForeignKey[Any], request: HttpRequest, **kwargs: Any
    ) -> ModelChoiceField[Any] | None:
        if db_field.name in self.get_autocomplete_fields(request):
            kwargs["widget"] = KeySelect(db_field, self.admin_site)
        return super().formfield_for_foreignkey(db_field, request, **kwargs)


class KeysField(ModelMultipleChoiceField[Any]):
    """Rows of another table. Django's own field fails with a key above MAX_KEY."""

    def clean(self, value: Any) -> Any:
        keys = [str(key) for key in value or ()]
        for key in keys:
            if not is_key(key):
                raise ValidationError(
                    self.error_messages["invalid_choice"],
                    code="invalid_choice",
                    params={"value": key[:40]},
                )
        return super().clean(value)


class ChecksKeys(ChecksInput):
    """Checks the keys of rows that a form adds, before the database compares them."""

    def formfield_for_manytomany(
        self,
        db_field: ManyToManyField[Any, Any],
        request: HttpRequest,
        **kwargs: Any,
    ) -> ModelMultipleChoiceField[Any] | None:
        kwargs["form_class"] = KeysField
        return super().formfield_for_manytomany(db_field, request, **kwargs)
