"""Matches, games, attempts and workers in the admin site."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest

from ladder.common.admin import ReadOnly
from ladder.games import attempts, services
from ladder.games.models import Attempt, Game, Match, Seat, SeatLog, Worker
from ladder.games.worker import registry


class ReadOnlyInline(admin.TabularInline[Any, Any]):
    """Related rows that cannot be changed."""

    can_delete = False
    extra = 0

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class SeatInline(ReadOnlyInline):
    model = Seat
    fields = readonly_fields = (
        "number",
        "submission",
        "score",
        "rank",
        "fault",
        "fault_detail",
    )


class AttemptInline(ReadOnlyInline):
    model = Attempt
    fields = readonly_fields = (
        "fence",
        "worker",
        "started_at",
        "ended_at",
        "outcome",
        "reason",
    )
    show_change_link = True


class GameInline(ReadOnlyInline):
    model = Game
    fields = readonly_fields = ("index", "status", "failures", "finished_at")
    show_change_link = True


class SeatLogInline(ReadOnlyInline):
    model = SeatLog
    fields = readonly_fields = ("number", "stderr", "notes", "verdict")


@admin.register(Match)
class MatchAdmin(ReadOnly):
    """Hides the seed, because an operator may own a bot in the match."""

    list_display = ("id", "kind", "ruleset", "seats", "planned", "created_at")
    list_filter = ("kind", "ruleset", "seats", "embargo", "created_at")
    search_fields = ("=id",)
    exclude = ("seed",)
    inlines = (GameInline,)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return [f for f in super().get_readonly_fields(request, obj) if f != "seed"]


class GameAdmin(ReadOnly):
    """The pages of games. `ladder.ratings.admin` registers them with more actions."""

    list_display = (
        "id",
        "match",
        "status",
        "failures",
        "owner",
        "lease_until",
        "finished_at",
    )
    list_filter = ("status", "match__kind", "failures", "match__ruleset")
    search_fields = ("=id", "=match__id", "seats__submission__bot__slug")
    list_select_related = ("match", "owner")
    exclude = ("replay",)
    inlines = (SeatInline, AttemptInline)
    actions: tuple[str, ...] = ("cancel", "revive", "release")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Game]:
        return super().get_queryset(request).defer("replay")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return [f for f in super().get_readonly_fields(request, obj) if f != "replay"]

    @admin.action(description="Cancel (scheduled games)")
    def cancel(self, request: HttpRequest, rows: QuerySet[Game]) -> None:
        for game in rows:
            done = services.cancel(game.pk, f"cancelled by {request.user}")
            self._report(request, game, "cancelled", done=done)

    @admin.action(description="Play again (dead games)")
    def revive(self, request: HttpRequest, rows: QuerySet[Game]) -> None:
        for game in rows:
            done = services.revive(game.pk)
            self._report(request, game, "revived", done=done)

    @admin.action(description="Take from the worker (running games)")
    def release(self, request: HttpRequest, rows: QuerySet[Game]) -> None:
        for game in rows:
            reason = f"taken back by {request.user}"
            done = attempts.release(game.pk, game.fence, reason)
            self._report(request, game, "taken back", done=done)

    def _report(
        self, request: HttpRequest, game: Game, action: str, *, done: bool
    ) -> None:
        """Show the operator whether an action succeeded, and log it if it did."""
        if done:
            self.log_change(request, game, action)
            self.message_user(request, f"{game}: {action}", messages.SUCCESS)
        else:
            text = f"{game}: cannot be {action}, because it is {game.status}"
            self.message_user(request, text, messages.ERROR)


@admin.register(Attempt)
class AttemptAdmin(ReadOnly):
    list_display = ("game", "fence", "worker", "outcome", "reason", "started_at")
    list_filter = ("outcome", "worker__host", "started_at")
    search_fields = ("=game__id", "reason", "worker__name")
    list_select_related = ("game", "worker")
    inlines = (SeatLogInline,)


@admin.register(Worker)
class WorkerAdmin(ReadOnly):
    list_display = (
        "name",
        "host",
        "sandbox",
        "slots",
        "load",
        "calibration_ms",
        "seen_at",
        "claimed_at",
        "gone_at",
        "drained",
    )
    list_filter = (
        ("gone_at", admin.EmptyFieldListFilter),
        "drained",
        "sandbox",
        "host",
    )
    search_fields = ("name", "host")
    actions = ("drain", "undrain")

    @admin.action(description="Drain: no more games")
    def drain(self, request: HttpRequest, rows: QuerySet[Worker]) -> None:
        for worker in rows:
            registry.drain(worker.pk, f"by {request.user}")
            self.log_change(request, worker, "drained")

    @admin.action(description="Undrain: let the installation take games again")
    def undrain(self, request: HttpRequest, rows: QuerySet[Worker]) -> None:
        for worker in rows:
            registry.undrain(worker.pk)
            self.log_change(request, worker, "undrained")
