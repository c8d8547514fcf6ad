"""Tournaments in the admin: a form describes them, actions change their status."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.db.models import Model, OuterRef, QuerySet, Subquery
from django.http import HttpRequest

from ladder.common.admin import ReadOnly, SearchesRows
from ladder.moderation.admin import operator_of
from ladder.moderation.audit import Operator
from ladder.moderation.models import StoppedUnit
from ladder.service.containment import UnitKind
from ladder.tournaments import corrections, organising, services
from ladder.tournaments.models import BEFORE_THE_START, Entrant, Fixture, Tournament
from ladder.tournaments.organising import Step
from torres.common.errors import LadderError


def _act_on_each(
    model_admin: admin.ModelAdmin[Any],
    request: HttpRequest,
    rows: QuerySet[Any],
    act: Callable[[Any], object],
    done: Callable[[Any], str],
) -> None:
    """Act on each row, and show and log what was done or why it was refused."""
    for row in rows:
        try:
            act(row)
        except LadderError as error:
            model_admin.message_user(request, f"{row}: {error}", messages.ERROR)
            continue
        row.refresh_from_db()
        model_admin.log_change(request, row, done(row))
        model_admin.message_user(request, f"{row}: {done(row)}")


@admin.register(Tournament)
class TournamentAdmin(SearchesRows):
    """From its start on, only the name and the organiser of a tournament can change."""

    list_display = (
        "slug",
        "name",
        "status",
        "why_stopped",
        "held_back",
        "revealed",
        "starts_at",
    )
    list_filter = ("status", "held_back", "ruleset")
    search_fields = ("slug", "name")
    readonly_fields = (
        "status",
        "why_stopped",
        "note",
        "revealed",
        "created_at",
        "started_at",
        "finished_at",
        "paused_at",
        "archived_at",
    )
    actions = (
        "announce",
        "close_entry",
        "start",
        "pause",
        "resume",
        "reveal_next",
        "cancel",
        "archive",
    )
    autocomplete_fields = ("organiser",)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        if obj is None or obj.status in BEFORE_THE_START:
            return self.readonly_fields
        fields = (field.name for field in Tournament._meta.fields)  # noqa: SLF001 -- documented by Django
        fixed = [name for name in fields if name not in services.EDITABLE_ALWAYS]
        return ["why_stopped", *fixed]

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
        if not error:
            return ""
        return f"{error}. {getattr(tournament, 'stop_advice', '')}"

    def save_model(
        self, request: HttpRequest, obj: Tournament, form: Any, change: Any
    ) -> None:
        """Write only the changed fields, because the others may move meanwhile."""
        if not change:
            if obj.organiser is None and isinstance(request.user, User):
                obj.organiser = request.user
            super().save_model(request, obj, form, change)
            return
        try:
            changes = {name: form.cleaned_data[name] for name in form.changed_data}
            services.edit(obj, changes)
        except LadderError as error:
            self.message_user(request, f"Nothing was changed: {error}", messages.ERROR)

    @admin.action(description="Open entry")
    def announce(self, request: HttpRequest, rows: QuerySet[Tournament]) -> None:
        self._each(request, rows, Step.OPEN)

    @admin.action(description="Close entry")
    def close_entry(self, request: HttpRequest, rows: QuerySet[Tournament]) -> None:
        self._each(request, rows, Step.CLOSE_ENTRY)

    @admin.action(description="Start")
    def start(self, request: HttpRequest, rows: QuerySet[Tournament]) -> None:
        self._each(request, rows, Step.START)

    @admin.action(description="Pause")
    def pause(self, request: HttpRequest, rows: QuerySet[Tournament]) -> None:
        self._each(request, rows, Step.PAUSE)

    @admin.action(description="Resume")
    def resume(self, request: HttpRequest, rows: QuerySet[Tournament]) -> None:
        self._each(request, rows, Step.RESUME)

    @admin.action(description="Reveal the next round")
    def reveal_next(self, request: HttpRequest, rows: QuerySet[Tournament]) -> None:
        self._each(request, rows, Step.REVEAL)

    @admin.action(description="Cancel")
    def cancel(self, request: HttpRequest, rows: QuerySet[Tournament]) -> None:
        self._each(request, rows, Step.CANCEL)

    @admin.action(description="Archive")
    def archive(self, request: HttpRequest, rows: QuerySet[Tournament]) -> None:
        self._each(request, rows, Step.ARCHIVE)

    def _each(
        self,
        request: HttpRequest,
        rows: QuerySet[Tournament],
        step: Step,
    ) -> None:
        # Without a reason, so that the page of a cancelled one says who cancelled it.
        operator = replace(operator_of(request), why="")
        change = partial(_take, operator, step)
        _act_on_each(self, request, rows, change, lambda row: f"status: {row.status}")


def _take(operator: Operator, step: Step, tournament: Tournament) -> None:
    organising.take(operator, tournament, step)


class EntrantForm(forms.ModelForm[Entrant]):
    """Enters any bot, also a house bot, and sets seeds before the start."""

    class Meta:
        model = Entrant
        fields = ("tournament", "bot", "seed")

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        is_new = self.instance.pk is None
        if is_new and values.get("tournament") and values.get("bot"):
            try:
                services.check_entry(
                    values["tournament"], values["bot"], values.get("seed")
                )
            except LadderError as error:
                raise forms.ValidationError(str(error)) from error
        return values


@admin.register(Entrant)
class EntrantAdmin(SearchesRows):
    form = EntrantForm
    list_display = ("bot", "tournament", "seed", "checked_in_at", "withdrawn_at")
    list_filter = ("tournament", ("withdrawn_at", admin.EmptyFieldListFilter))
    search_fields = ("bot__slug",)
    list_select_related = ("bot", "tournament")
    autocomplete_fields = ("bot", "tournament")
    actions = ("check_in", "withdraw")

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        if obj is not None and obj.tournament.status not in BEFORE_THE_START:
            return False
        return super().has_change_permission(request, obj)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return () if obj is None else ("tournament", "bot")

    def save_model(
        self, request: HttpRequest, obj: Entrant, form: Any, change: Any
    ) -> None:
        try:
            if change:
                services.set_seed(obj, obj.seed)
            else:
                entrant = services.enter(obj.tournament, obj.bot, seed=obj.seed)
                obj.pk = entrant.pk
        except LadderError as error:
            self.message_user(request, f"Nothing was changed: {error}", messages.ERROR)

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
        def done(_: Model) -> str:
            return "changed by an operator"

        _act_on_each(self, request, rows, change, done)


@admin.register(Fixture)
class FixtureAdmin(ReadOnly):
    list_display = (
        "tournament",
        "round",
        "pool",
        "table",
        "leg",
        "match",
        "how",
        "retries",
    )
    list_filter = ("tournament", "how", "round")
    search_fields = ("tournament__slug", "=match__id")
    list_select_related = ("tournament", "match")
    actions = ("give_up",)

    @admin.action(description="Give up (decide it without its dead games)")
    def give_up(self, request: HttpRequest, rows: QuerySet[Fixture]) -> None:
        def done(_: Model) -> str:
            return "decided without its dead games"

        _act_on_each(self, request, rows, corrections.give_up, done)
