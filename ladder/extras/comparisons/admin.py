"""The admin page of comparisons."""

from ladder.common.admin import show
from ladder.extras.comparisons.models import VersionComparison

show(
    VersionComparison,
    list_display=("id", "bot", "new", "old", "status", "note", "created_at"),
    list_filter=("status", "ladder"),
    list_select_related=("bot", "new__bot", "old__bot"),
    search_fields=("bot__slug",),
)
