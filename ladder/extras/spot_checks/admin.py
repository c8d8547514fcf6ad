"""The admin page of spot checks."""

from ladder.common.admin import show
from ladder.extras.spot_checks.models import SpotCheck

show(
    SpotCheck,
    list_display=(
        *("id", "game", "seat", "submission", "verdict", "played_on", "checked_on"),
        *("note", "created_at"),
    ),
    list_filter=("verdict",),
    unlisted=("replay",),
    list_select_related=("submission__bot",),
    search_fields=("submission__bot__slug", "played_on", "checked_on"),
)
