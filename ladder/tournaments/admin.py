"""The admin pages of tournaments, entrants and fixtures."""

from django.contrib import admin
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import HttpRequest

from ladder.common.admin import ReadOnlyAdmin, show
from ladder.moderation.models import StoppedUnit
from ladder.service.containment import UnitKind
from ladder.tournaments.models import Entrant, Fixture, Tournament


class TournamentAdmin(ReadOnlyAdmin):
    def get_queryset(self, request: HttpRequest) -> QuerySet[Tournament]:
        """Add why each tournament is stopped, in the same query."""
        units = StoppedUnit.objects.filter(
            kind=UnitKind.TOURNAMENT, name=OuterRef("slug")
        )
        rows: QuerySet[Tournament] = super().get_queryset(request)
        return rows.annotate(
            stop_error=Subquery(units.values("error")[:1]),
            stop_advice=Subquery(units.values("advice")[:1]),
        )

    @admin.display(description="Stopped")
    def why_stopped(self, tournament: Tournament) -> str:
        """Say why the dispatcher cannot continue the tournament."""
        error = getattr(tournament, "stop_error", None)
        return f"{error}. {getattr(tournament, 'stop_advice', '')}" if error else ""


show(
    Tournament,
    TournamentAdmin,
    list_display=(
        *("slug", "name", "status", "why_stopped"),
        *("held_back", "revealed", "starts_at"),
    ),
    list_filter=("status", "held_back", "ruleset"),
    search_fields=("slug", "name"),
)
show(
    Entrant,
    list_display=("bot", "tournament", "seed", "checked_in_at", "withdrawn_at"),
    list_filter=("tournament", ("withdrawn_at", admin.EmptyFieldListFilter)),
    search_fields=("bot__slug",),
    list_select_related=("bot", "tournament"),
)
show(
    Fixture,
    list_display=(
        *("id", "tournament", "round", "pool", "table", "leg", "match"),
        *("how", "retries"),
    ),
    list_filter=("tournament", "how", "round"),
    search_fields=("tournament__slug", "=match__id"),
    list_select_related=("tournament", "match"),
)
