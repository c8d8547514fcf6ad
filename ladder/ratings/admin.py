"""Admin pages of ladders and seasons. The ledger and the ratings are read-only."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from ladder.common.admin import ReadOnly
from ladder.ratings.models import (
    Challenge,
    Checkpoint,
    Entry,
    Ladder,
    Pairing,
    Rating,
    Season,
)


@admin.register(Ladder)
class LadderAdmin(admin.ModelAdmin[Ladder]):
    """A ladder's settings. TrueSkill's parameters cannot be changed here."""

    list_display = ("slug", "name", "ruleset", "tables", "default", "opens_at")
    readonly_fields = ("mu", "sigma", "beta", "tau", "created_at")

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Season)
class SeasonAdmin(ReadOnly):
    list_display = ("__str__", "status", "head", "started_at", "ended_at")
    list_filter = ("ladder", "status")
    list_select_related = ("ladder",)


@admin.register(Rating)
class RatingAdmin(ReadOnly):
    list_display = ("bot", "season", "rating", "mu", "sigma", "games", "forfeits")
    list_filter = ("season", "bot__status", "bot__house")
    search_fields = ("bot__slug",)
    list_select_related = ("bot", "season__ladder")
    ordering = ("-rating",)


@admin.register(Entry)
class EntryAdmin(ReadOnly):
    list_display = ("seq", "season", "kind", "game", "bot", "created_at")
    list_filter = ("season", "kind")
    search_fields = ("=seq", "=game__id", "bot__slug")
    list_select_related = ("season__ladder", "game", "bot")
    ordering = ("-seq",)


@admin.register(Pairing)
class PairingAdmin(ReadOnly):
    list_display = ("match", "season", "why", "open", "created_at")
    list_filter = ("season", "open")
    search_fields = ("=match__id",)
    list_select_related = ("match", "season__ladder")


@admin.register(Checkpoint)
class CheckpointAdmin(ReadOnly):
    list_display = ("season", "seq", "created_at")
    list_filter = ("season",)
    list_select_related = ("season__ladder",)


@admin.register(Challenge)
class ChallengeAdmin(ReadOnly):
    list_display = ("match", "ladder", "by", "created_at")
    list_filter = ("ladder", "created_at")
    search_fields = ("=match__id", "by__username")
    list_select_related = ("match", "ladder", "by")
