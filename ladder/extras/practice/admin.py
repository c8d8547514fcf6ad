"""Admin pages of practice games: operators can look at them, and end them."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from ladder.common.admin import ReadOnly
from ladder.extras.practice.endings import close
from ladder.extras.practice.models import PracticeGame, PracticeStatus

# The seed would show an operator who plays the decks of a running game.
HIDDEN = ("seed", "replay", "answer")
ENDED = "An operator ended this game. Nothing of it counts."


@admin.register(PracticeGame)
class PracticeGameAdmin(ReadOnly):
    list_display = ("id", "owner", "ruleset", "status", "host", "note", "created_at")
    list_filter = ("status", "ruleset")
    list_select_related = ("owner",)
    search_fields = ("owner__username",)
    exclude = HIDDEN
    unlisted = ("replay",)
    actions = ("end",)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        names = super().get_readonly_fields(request, obj)
        return [name for name in names if name not in HIDDEN]

    @admin.action(description="End")
    def end(self, request: HttpRequest, rows: QuerySet[PracticeGame]) -> None:
        ended = sum(close(game.pk, PracticeStatus.FAILED, ENDED) for game in rows)
        self.message_user(request, f"Ended: {ended}")
