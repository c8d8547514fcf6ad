"""The admin pages of ladders, seasons, ratings and the ledger."""

from django.db.models import Q

from ladder.common.admin import ReadOnlyAdmin, show
from ladder.ratings import models


class EntryAdmin(ReadOnlyAdmin):
    def key_condition(self, number: int) -> Q:
        """Name the seasons, because the index of numbers begins with the season."""
        seasons = list(models.Season.objects.values_list("pk", flat=True))
        return Q(season__in=seasons, seq=number) | Q(game=number)


show(
    models.Ladder,
    list_display=("slug", "name", "ruleset", "tables", "default", "opens_at"),
)
show(
    models.Membership,
    list_display=("bot", "ladder", "status", "why", "joined_at", "changed_at"),
    list_filter=("ladder", "status"),
    search_fields=("bot__slug",),
    list_select_related=("bot", "ladder"),
)
show(
    models.Season,
    list_display=("__str__", "status", "head", "started_at", "ended_at"),
    list_filter=("ladder", "status"),
    list_select_related=("ladder",),
)
show(
    models.Rating,
    list_display=("bot", "season", "rating", "mu", "sigma", "games", "forfeits"),
    list_filter=("season", "bot__status", "bot__house"),
    search_fields=("bot__slug",),
    list_select_related=("bot", "season__ladder"),
    ordering=("-rating",),
)
show(
    models.Entry,
    EntryAdmin,
    list_display=("seq", "season", "kind", "game", "bot", "created_at"),
    list_filter=("season", "kind"),
    key_fields=("seq", "game_id"),
    search_fields=("bot__slug",),
    search_help_text="The number of an entry or game, or a part of a bot's slug",
    sortable_by=(),
    list_select_related=("season__ladder", "game", "bot"),
    ordering=("-season_id", "-seq"),
    unlisted=("inputs", "changes", "game__replay"),
)
show(
    models.Pairing,
    list_display=("match", "season", "open", "created_at"),
    list_filter=("season", "open"),
    key_fields=("match_id",),
    search_fields=("match_id",),
    search_help_text="The number of a match",
    sortable_by=(),
    list_select_related=("match", "season__ladder"),
    unlisted=("match__switches", "match__limits", "match__why"),
)
show(
    models.Checkpoint,
    list_display=("season", "seq", "created_at"),
    list_filter=("season",),
    list_select_related=("season__ladder",),
    unlisted=("state",),
)
show(
    models.Challenge,
    list_display=("match", "ladder", "by", "created_at"),
    list_filter=("ladder", "created_at"),
    search_fields=("=match__id", "by__username"),
    list_select_related=("match", "ladder", "by"),
)
