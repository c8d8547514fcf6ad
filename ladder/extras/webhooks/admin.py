"""Admin pages of webhooks: operators can look at them, and switch them off."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from ladder.common.admin import ReadOnly
from ladder.extras.webhooks import services
from ladder.extras.webhooks.models import Webhook


@admin.register(Webhook)
class WebhookAdmin(ReadOnly):
    list_display = ("id", "user", "url", "active", "failures", "failing_since", "note")
    list_filter = ("active",)
    list_select_related = ("user",)
    search_fields = ("user__username", "url")
    actions = ("switch_off",)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        fields = super().get_readonly_fields(request, obj)
        return [name for name in fields if name != "salt"]

    @admin.action(description="Switch off")
    def switch_off(self, request: HttpRequest, rows: QuerySet[Webhook]) -> None:
        for webhook in rows:
            services.switch_off(webhook, "An operator switched it off.")
            self.message_user(request, f"{webhook}: switched off")
