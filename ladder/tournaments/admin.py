"""Tournaments in the admin: a form describes them, actions change their status."""

from collections.abc import Callable
from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest

from ladder.common.admin import ReadOnly
from ladder.common.errors import LadderError
from ladder.tournaments import services
from ladder.tournaments.models import Entrant, Fixture, Tournament


@admin.register(Tournament)
class TournamentAdmin(admin.ModelAdmin[Tournament]):
    list_display = ("slug", "name", "status", "held_back", "revealed", "starts_at")
    list_filter = ("status", "held_back", "ruleset")
    search_fields = ("slug", "name")
    readonly_fields = (
        "status",
        "revealed",
        "created_at",
        "started_at",
        "finished_at",
    )
    actions = ("announce", "close_entry", "start", "reveal_next", "cancel")

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    @admin.action(description="Open entry")
    def announce(self, request: HttpRequest, rows: QuerySet[Tournament]) -> None:
        self._each(request, rows, services.announce)

    @admin.action(description="Close entry")
    def close_entry(self, request: HttpRequest, rows: QuerySet[Tournament]) -> None:
        self._each(request, rows, services.close_entry)

    @admin.action(description="Start")
    def start(self, request: HttpRequest, rows: QuerySet[Tournament]) -> None:
        self._each(request, rows, services.start)

    @admin.action(description="Reveal the next round")
    def reveal_next(self, request: HttpRequest, rows: QuerySet[Tournament]) -> None:
        self._each(request, rows, services.reveal_next)

    @admin.action(description="Cancel")
    def cancel(self, request: HttpRequest, rows: QuerySet[Tournament]) -> None:
        self._each(request, rows, services.cancel)

    def _each(
        self,
        request: HttpRequest,
        rows: QuerySet[Tournament],
        change: Callable[[Tournament], object],
    ) -> None:
        for tournament in rows:
            try:
                change(tournament)
            except LadderError as error:
                self.message_user(request, f"{tournament}: {error}", messages.ERROR)
                continue
            tournament.refresh_from_db()
            self.log_change(request, tournament, f"status: {tournament.status}")
            self.message_user(request, f"{tournament}: {tournament.status}")


@admin.register(Entrant)
class EntrantAdmin(ReadOnly):
    list_display = ("bot", "tournament", "seed", "checked_in_at", "withdrawn_at")
    list_filter = ("tournament", ("withdrawn_at", admin.EmptyFieldListFilter))
    search_fields = ("bot__slug",)
    list_select_related = ("bot", "tournament")
    actions = ("check_in", "withdraw")

    @admin.action(description="Check in")
    def check_in(self, request: HttpRequest, rows: QuerySet[Entrant]) -> None:
        self._each(request, rows, services.check_in)

    @admin.action(description="Withdraw")
    def withdraw(self, request: HttpRequest, rows: QuerySet[Entrant]) -> None:
        self._each(request, rows, services.withdraw)

    def _each(
        self,
        request: HttpRequest,
        rows: QuerySet[Entrant],
        change: Callable[[Entrant], object],
    ) -> None:
        for entrant in rows:
            try:
                change(entrant)
            except LadderError as error:
                self.message_user(request, f"{entrant}: {error}", messages.ERROR)
                continue
            self.log_change(request, entrant, "changed by an operator")


@admin.register(Fixture)
class FixtureAdmin(ReadOnly):
    list_display = ("tournament", "round", "pool", "table", "leg", "match", "how")
    list_filter = ("tournament", "how", "round")
    search_fields = ("tournament__slug", "=match__id")
    list_select_related = ("tournament", "match")
