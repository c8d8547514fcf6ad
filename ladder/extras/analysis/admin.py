"""The admin page of analyses."""

from ladder.common.admin import show
from ladder.extras.analysis.models import Analysis

show(
    Analysis,
    list_display=("id", "game", "ply", "by", "status", "note", "created_at"),
    list_filter=("status",),
    list_select_related=("by", "game"),
    search_fields=("by__username",),
    unlisted=("document",),
)
