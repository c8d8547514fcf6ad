"""The admin only reads. Operators change rows by acts (`ladder.moderation.acts`)."""

from typing import Any

from django.contrib import admin, messages
from django.core.paginator import Paginator
from django.db.models import Q, QuerySet
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


class ReadOnlyInline(admin.TabularInline[Any, Any]):
    """Related rows that cannot be changed."""

    can_delete = False
    extra = 0

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


def inline(model: type, *fields: str, link: bool = False) -> type[ReadOnlyInline]:
    """Return the class that shows the related rows of a model below a row."""
    shown: dict[str, object] = {"fields": fields, "readonly_fields": fields}
    shown |= {"model": model, "show_change_link": link}
    return type(f"{model.__name__}Inline", (ReadOnlyInline,), shown)


class ReadOnlyAdmin(admin.ModelAdmin[Any]):
    """Shows rows, and changes none.

    `key_fields` are columns of numbers. If the search is for a number, only they are
    compared, because an index leads to the row; otherwise `search_fields` are. Columns
    in `unlisted` are large, so a list does not read them. Columns in `hidden` are not
    shown at all.
    """

    actions = None
    paginator = BoundedPaginator
    show_full_result_count = False
    key_fields: tuple[str, ...] = ()
    unlisted: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, object] | None = None
    ) -> HttpResponse:
        # PostgreSQL stores no such character, so comparing with it is an error.
        if any("\0" in value for _, values in request.GET.lists() for value in values):
            text = "This address has a character that no row has. Here are all rows."
            self.message_user(request, text, messages.ERROR)
            return redirect(request.path)
        return super().changelist_view(request, extra_context)

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

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        names = [field.name for field in self.model._meta.fields]  # noqa: SLF001 - documented by Django
        return [name for name in names if name not in self.hidden]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return self.get_fields(request, obj)


def show(
    model: type, base: type[ReadOnlyAdmin] = ReadOnlyAdmin, **options: object
) -> None:
    """Let the admin show the rows of a model; ``options`` are those of `base`."""
    admin.site.register(model, base, **options)
