"""The admin page of webhooks."""

from ladder.common.admin import show
from ladder.extras.webhooks.models import Webhook

show(
    Webhook,
    list_display=("id", "user", "url", "active", "failures", "failing_since", "note"),
    list_filter=("active",),
    list_select_related=("user",),
    search_fields=("user__username", "url"),
    hidden=("salt",),
)
