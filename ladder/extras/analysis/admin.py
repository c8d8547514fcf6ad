"""The admin page of analyses: operators can look at them."""

from django.contrib import admin

from ladder.common.admin import ReadOnly
from ladder.extras.analysis.models import Analysis


@admin.register(Analysis)
class AnalysisAdmin(ReadOnly):
    list_display = ("id", "game", "ply", "by", "status", "note", "created_at")
    list_filter = ("status",)
    list_select_related = ("by", "game")
    search_fields = ("by__username",)
    unlisted = ("document",)
