"""The admin page of trials."""

from ladder.common.admin import show
from ladder.extras.editor.models import TrialGame

show(
    TrialGame,
    list_display=("id", "owner", "language", "opponent", "status", "created_at"),
    list_filter=("status", "language"),
    list_select_related=("owner", "opponent"),
    search_fields=("owner__username",),
    # The code is what its author competes with, so operators do not see it either.
    hidden=("guest", "source", "log", "findings", "replay"),
    unlisted=("source", "log", "findings", "replay"),
)
