"""The admin page of practice games."""

from ladder.common.admin import show
from ladder.extras.practice.models import PracticeGame

show(
    PracticeGame,
    list_display=("id", "owner", "ruleset", "status", "host", "note", "created_at"),
    list_filter=("status", "ruleset"),
    list_select_related=("owner",),
    search_fields=("owner__username",),
    # The seed would show an operator who plays the decks of a running game.
    hidden=("seed", "guest", "replay", "answer"),
    unlisted=("replay",),
)
