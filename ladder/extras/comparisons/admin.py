"""Admin pages of comparisons: operators can look at them, and cancel them."""

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest

from ladder.common.admin import ReadOnly
from ladder.extras.comparisons import services
from ladder.extras.comparisons.models import VersionComparison
from torres.common.errors import LadderError


@admin.register(VersionComparison)
class VersionComparisonAdmin(ReadOnly):
    list_display = ("id", "bot", "new", "old", "status", "note", "created_at")
    list_filter = ("status", "ladder")
    list_select_related = ("bot", "new__bot", "old__bot")
    search_fields = ("bot__slug",)
    actions = ("cancel",)

    @admin.action(description="Cancel")
    def cancel(self, request: HttpRequest, rows: QuerySet[VersionComparison]) -> None:
        for comparison in rows:
            try:
                services.cancel(comparison, "Cancelled by an operator.")
            except LadderError as error:
                text = f"{comparison}: {error}"
                self.message_user(request, text, messages.ERROR)
            else:
                self.message_user(request, f"{comparison}: cancelled")
