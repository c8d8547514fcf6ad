"""Matches, games, attempts and workers in the admin site."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest

from ladder.bots.models import Bot
from ladder.common.admin import ReadOnly
from ladder.games import attempts, services
from ladder.games.models import (
    MAX_SEATS,
    Attempt,
    Game,
    Match,
    Seat,
    SeatLog,
    Worker,
)

MAX_BOTS_OF_A_SEARCH = 20


class ReadOnlyInline(admin.TabularInline[Any, Any]):
    """Related rows that cannot be changed."""

    can_delete = False
    extra = 0

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class SeatInline(ReadOnlyInline):
    model = Seat

    def get_queryset(self, request: HttpRequest) -> QuerySet[Seat]:
        return super().get_queryset(request).select_related("submission__bot")

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


class SeatsFilter(admin.SimpleListFilter):
    """The number of seats. Django's own filter would read all matches for it."""

    title = "seats"
    parameter_name = "seats"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(str(count), str(count)) for count in range(2, MAX_SEATS + 1)]

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[Match]
    ) -> QuerySet[Match]:
        chosen = dict(self.lookup_choices).get(self.value() or "")
        return queryset.filter(seats=int(chosen)) if chosen else queryset


class FailedAttemptsFilter(admin.SimpleListFilter):
    """The games of which an attempt failed."""

    title = "failed attempts"
    parameter_name = "failed"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("yes", "one or more")]

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[Game]
    ) -> QuerySet[Game]:
        if self.value() != "yes":
            return queryset
        failed = Attempt.objects.filter(outcome=Attempt.Outcome.FAILED).order_by()
        return queryset.filter(pk__in=failed.values("game"))


@admin.register(Match)
class MatchAdmin(ReadOnly):
    """Hides the seed, because an operator may own a bot in the match."""

    list_display = ("id", "kind", "ruleset", "seats", "planned", "created_at")
    list_filter = ("kind", SeatsFilter, "embargo")
    key_fields = search_fields = ("id",)
    search_help_text = "The number of a match"
    sortable_by = ("id",)
    unlisted = ("switches", "limits", "why")
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
    list_filter = ("status", "match__kind", FailedAttemptsFilter)
    key_fields = ("id", "match_id")
    search_fields = ("seats__bot__slug",)
    search_help_text = "The number of a game or match, or the slug of a bot"
    sortable_by = ("id", "finished_at")
    list_select_related = ("match", "owner")
    unlisted = ("replay", "match__switches", "match__limits", "match__why")
    exclude = ("replay",)
    inlines = (SeatInline, AttemptInline)
    actions: tuple[str, ...] = ("cancel", "revive", "release")

    def search_texts(
        self, request: HttpRequest, queryset: QuerySet[Game], word: str
    ) -> tuple[QuerySet[Game], bool]:
        """Find the games of the bot with this slug, or of some bots that contain it."""
        bots = Bot.objects.filter(slug=word) or Bot.objects.filter(slug__icontains=word)
        found = list(bots.values_list("pk", flat=True)[:MAX_BOTS_OF_A_SEARCH])
        seats = Seat.objects.filter(bot__in=found).order_by()
        return queryset.filter(pk__in=seats.values("game")), False

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
    list_filter = ("outcome", "worker__host")
    key_fields = ("game_id",)
    search_fields = ("reason",)
    search_help_text = "The number of a game, or the reason of a failed attempt"
    sortable_by = ()
    list_select_related = ("game", "worker")
    unlisted = ("game__replay",)
    inlines = (SeatLogInline,)

    def search_texts(
        self, request: HttpRequest, queryset: QuerySet[Attempt], word: str
    ) -> tuple[QuerySet[Attempt], bool]:
        """Search the failed attempts only: an index leads to them."""
        failed = queryset.filter(outcome=Attempt.Outcome.FAILED)
        return failed.filter(reason__icontains=word), False


@admin.register(Worker)
class WorkerAdmin(ReadOnly):
    """Shows workers. The actions on them are in `moderation`, because it audits."""

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
