"""Admin pages of ladders, seasons and games. Ledger and ratings are read-only."""

from collections.abc import Callable
from typing import Any

from django.contrib import admin, messages
from django.db.models import Q, QuerySet
from django.http import HttpRequest

from ladder.bots.models import Bot
from ladder.common.admin import ChecksInput, ReadOnly
from ladder.games.admin import GameAdmin
from ladder.games.models import Game, GameStatus
from ladder.moderation.admin import operator_of
from ladder.moderation.audit import Operator
from ladder.moderation.models import AuditEntry
from ladder.ratings import memberships, operations
from ladder.ratings.models import (
    Challenge,
    Checkpoint,
    Entry,
    Ladder,
    Membership,
    Pairing,
    Rating,
    Season,
)
from torres.common.errors import LadderError


@admin.register(Ladder)
class LadderAdmin(ChecksInput):
    """A ladder's settings. TrueSkill's parameters cannot be changed here."""

    list_display = ("slug", "name", "ruleset", "tables", "default", "opens_at")
    readonly_fields = ("mu", "sigma", "beta", "tau", "created_at")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Fix the slug of an existing ladder, because its matches hold a copy of it."""
        fields = super().get_readonly_fields(request, obj)
        return fields if obj is None else ("slug", *fields)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Membership)
class MembershipAdmin(ReadOnly):
    """The bots of the ladders. The actions are audited."""

    list_display = ("bot", "ladder", "status", "why", "joined_at", "changed_at")
    list_filter = ("ladder", "status")
    search_fields = ("bot__slug",)
    list_select_related = ("bot", "ladder")
    actions = ("admit", "remove")

    @admin.action(description="Let play on the ladder")
    def admit(self, request: HttpRequest, rows: QuerySet[Membership]) -> None:
        self._act(request, rows, memberships.admit, "admitted")

    @admin.action(description="Remove from the ladder")
    def remove(self, request: HttpRequest, rows: QuerySet[Membership]) -> None:
        self._act(request, rows, memberships.remove, "removed")

    def _act(
        self,
        request: HttpRequest,
        rows: QuerySet[Membership],
        action: Callable[[Operator, Bot, Ladder], AuditEntry],
        done: str,
    ) -> None:
        for row in rows.select_related("bot", "ladder"):
            action(operator_of(request), row.bot, row.ladder)
            self.log_change(request, row, done)
        self.message_user(request, f"{len(rows)} bots {done}.")


@admin.register(Season)
class SeasonAdmin(ReadOnly):
    list_display = ("__str__", "status", "head", "started_at", "ended_at")
    list_filter = ("ladder", "status")
    list_select_related = ("ladder",)


@admin.register(Game)
class RatedGameAdmin(GameAdmin):
    """Games, with the actions that may change ratings. They are audited."""

    actions = ("void_and_play_again", *GameAdmin.actions)

    @admin.action(description="Void and play again")
    def void_and_play_again(self, request: HttpRequest, rows: QuerySet[Game]) -> None:
        for game in rows:
            self._act(request, game, operations.void, "voided")

    @admin.action(description="Play again (dead games)")
    def revive(self, request: HttpRequest, rows: QuerySet[Game]) -> None:
        for game in rows:
            if game.status == GameStatus.DEAD:
                self._act(request, game, operations.rerun, "revived")
            else:
                self._report(request, game, "revived", done=False)

    def _act(
        self,
        request: HttpRequest,
        game: Game,
        action: Callable[[Operator, int], AuditEntry],
        done: str,
    ) -> None:
        try:
            action(operator_of(request), game.pk)
        except LadderError as refusal:
            self.message_user(request, f"{game}: {refusal}", messages.ERROR)
        else:
            self.log_change(request, game, done)


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
    key_fields = ("seq", "game_id")
    search_fields = ("bot__slug",)
    search_help_text = "The number of an entry or game, or a part of a bot's slug"
    sortable_by = ()
    list_select_related = ("season__ladder", "game", "bot")
    ordering = ("-season_id", "-seq")
    unlisted = ("inputs", "changes", "game__replay")

    def key_condition(self, number: int) -> Q:
        """Name the seasons, because the index of numbers begins with the season."""
        seasons = list(Season.objects.values_list("pk", flat=True))
        return Q(season__in=seasons, seq=number) | Q(game=number)


@admin.register(Pairing)
class PairingAdmin(ReadOnly):
    list_display = ("match", "season", "open", "created_at")
    list_filter = ("season", "open")
    key_fields = search_fields = ("match_id",)
    search_help_text = "The number of a match"
    sortable_by = ()
    list_select_related = ("match", "season__ladder")
    unlisted = ("match__switches", "match__limits", "match__why")


@admin.register(Checkpoint)
class CheckpointAdmin(ReadOnly):
    unlisted = ("state",)
    list_display = ("season", "seq", "created_at")
    list_filter = ("season",)
    list_select_related = ("season__ladder",)


@admin.register(Challenge)
class ChallengeAdmin(ReadOnly):
    list_display = ("match", "ladder", "by", "created_at")
    list_filter = ("ladder", "created_at")
    search_fields = ("=match__id", "by__username")
    list_select_related = ("match", "ladder", "by")
