"""Matches, games, attempts and workers in the admin."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from ladder.bots.models import Bot
from ladder.common.admin import ReadOnlyAdmin, ReadOnlyInline, inline, show
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
EMPTY = admin.EmptyFieldListFilter


class SeatInline(ReadOnlyInline):
    model = Seat
    fields = readonly_fields = (
        *("number", "submission", "score", "rank", "fault", "fault_detail"),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Seat]:
        return super().get_queryset(request).select_related("submission__bot")


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


class GameAdmin(ReadOnlyAdmin):
    def search_texts(
        self, request: HttpRequest, queryset: QuerySet[Game], word: str
    ) -> tuple[QuerySet[Game], bool]:
        """Find the games of the bot with this slug, or of some bots that contain it."""
        bots = Bot.objects.filter(slug=word) or Bot.objects.filter(slug__icontains=word)
        found = list(bots.values_list("pk", flat=True)[:MAX_BOTS_OF_A_SEARCH])
        seats = Seat.objects.filter(bot__in=found).order_by()
        return queryset.filter(pk__in=seats.values("game")), False


class AttemptAdmin(ReadOnlyAdmin):
    def search_texts(
        self, request: HttpRequest, queryset: QuerySet[Attempt], word: str
    ) -> tuple[QuerySet[Attempt], bool]:
        """Search the failed attempts only: an index leads to them."""
        failed = queryset.filter(outcome=Attempt.Outcome.FAILED)
        return failed.filter(reason__icontains=word), False


show(
    Match,
    list_display=("id", "kind", "ruleset", "seats", "planned", "created_at"),
    list_filter=("kind", SeatsFilter, "embargo"),
    key_fields=("id",),
    search_fields=("id",),
    search_help_text="The number of a match",
    sortable_by=("id",),
    unlisted=("switches", "limits", "why"),
    hidden=("seed",),  # an operator may own a bot in the match
    inlines=(inline(Game, "index", "status", "failures", "finished_at", link=True),),
)
show(
    Game,
    GameAdmin,
    list_display=(
        *("id", "match", "status", "failures", "owner", "lease_until", "finished_at"),
    ),
    list_filter=("status", "match__kind", FailedAttemptsFilter),
    key_fields=("id", "match_id"),
    search_fields=("seats__bot__slug",),
    search_help_text="The number of a game or match, or the slug of a bot",
    sortable_by=("id", "finished_at"),
    list_select_related=("match", "owner"),
    unlisted=("replay", "match__switches", "match__limits", "match__why"),
    hidden=("replay",),
    inlines=(
        SeatInline,
        inline(
            Attempt,
            *("fence", "worker", "started_at", "ended_at", "outcome", "reason"),
            link=True,
        ),
    ),
)
show(
    Attempt,
    AttemptAdmin,
    list_display=(
        *("game", "fence", "worker", "outcome", "bot", "reason", "started_at"),
    ),
    list_filter=("outcome", "worker__host"),
    key_fields=("game_id",),
    search_fields=("reason",),
    search_help_text="The number of a game, or the reason of a failed attempt",
    sortable_by=(),
    list_select_related=("game", "worker", "bot"),
    unlisted=("game__replay", "evidence"),
    inlines=(inline(SeatLog, "number", "stderr", "notes", "verdict"),),
)
show(
    Worker,
    list_display=(
        *("name", "host", "sandbox", "slots", "load", "calibration_ms"),
        *("seen_at", "claimed_at", "gone_at", "drained"),
    ),
    list_filter=(("gone_at", EMPTY), "drained", "sandbox", "host"),
    search_fields=("name", "host"),
)
