"""The admin pages of analyses."""

from ladder.common.admin import show
from ladder.extras.analysis.models import Analysis, SeatReview

show(
    Analysis,
    list_display=(
        "id",
        "game",
        "ply",
        "by",
        "story",
        "status",
        "cpu_s",
        "note",
        "created_at",
    ),
    list_filter=("status", "story"),
    list_select_related=("by", "game"),
    search_fields=("by__username",),
    unlisted=("document",),
)
show(
    SeatReview,
    list_display=("id", "analysis", "seat", "bot"),
    list_select_related=("analysis", "bot"),
    search_fields=("bot__slug",),
    unlisted=("turns",),
)
