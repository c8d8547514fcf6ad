"""Admin pages for rows that only services may write."""

from typing import Any

from django.contrib import admin
from django.contrib.admin.widgets import AutocompleteSelect
from django.db.models import ForeignKey
from django.forms import ModelChoiceField
from django.http import HttpRequest


class ReadOnly(admin.ModelAdmin[Any]):
    """Shows rows. Operators change them by actions only, which call services."""

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
        keys = [key for key in value if str(key).isascii() and str(key).isdigit()]
        return super().optgroups(name, keys, attrs)


class SearchesRows(admin.ModelAdmin[Any]):
    """Shows a search box for the foreign keys in `autocomplete_fields`."""

    def formfield_for_foreignkey(
        self, db_field: ForeignKey[Any], request: HttpRequest, **kwargs: Any
    ) -> ModelChoiceField[Any] | None:
        if db_field.name in self.get_autocomplete_fields(request):
            kwargs["widget"] = KeySelect(db_field, self.admin_site)
        return super().formfield_for_foreignkey(db_field, request, **kwargs)
