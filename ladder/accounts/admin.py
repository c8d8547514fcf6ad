"""The admin pages of tokens."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from ladder.accounts.models import ApiToken
from ladder.common.admin import ReadOnly


@admin.register(ApiToken)
class ApiTokenAdmin(ReadOnly):
    """Shows tokens and revokes them. `manage.py token` and owners create them."""

    list_display = (
        "prefix",
        "user",
        "name",
        "created_at",
        "expires_at",
        "last_used_at",
    )
    list_filter = ("created_at", ("expires_at", admin.EmptyFieldListFilter))
    search_fields = ("user__username", "prefix", "name")
    list_select_related = ("user",)
    exclude = ("digest",)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return admin.ModelAdmin.has_delete_permission(self, request, obj)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return [f for f in super().get_readonly_fields(request, obj) if f != "digest"]
