"""The admin pages of bots and submissions."""

from ladder.bots.models import Bot, Submission
from ladder.common.admin import inline, show

UPLOAD_FIELDS = ("number", "status", "language", "size", "created_at")

show(
    Bot,
    list_display=("slug", "name", "owner", "house", "status", "created_at"),
    list_filter=("status", "house", "created_at"),
    search_fields=("slug", "name", "owner__username"),
    list_select_related=("owner",),
    inlines=(inline(Submission, *UPLOAD_FIELDS, link=True),),
)
show(
    Submission,
    list_display=(
        *("__str__", "id", "status", "language", "size", "failures"),
        *("service_failed", "lease_until", "created_at"),
    ),
    list_filter=("status", "service_failed", "language", "bot__house"),
    search_fields=("bot__slug", "digest"),
    list_select_related=("bot",),
    date_hierarchy="created_at",
    unlisted=("report", "log"),
)
