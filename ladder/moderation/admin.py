"""The admin pages of the audit log and of stopped units."""

from ladder.common.admin import show
from ladder.moderation.models import AuditEntry, StoppedUnit

show(
    AuditEntry,
    list_display=("at", "kind", "target", "by", "why"),
    list_filter=("kind", "at"),
    search_fields=("target", "why"),
    list_select_related=("by",),
)
show(
    StoppedUnit,
    list_display=("__str__", "error", "advice", "since"),
    list_filter=("kind",),
    search_fields=("name", "error"),
)
