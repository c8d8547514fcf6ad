"""The admin pages of bots and the audit log. Their actions are audited."""

from collections.abc import Callable
from typing import Any

from django.contrib import admin, messages
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group, User
from django.db.models import QuerySet
from django.http import HttpRequest

from ladder.accounts.sessions import is_by_token
from ladder.accounts.user_names import remember_name
from ladder.bots.models import Bot, Submission
from ladder.common.admin import ChecksKeys, ReadOnly
from ladder.games.admin import WorkerAdmin
from ladder.games.models import Worker
from ladder.moderation import workers
from ladder.moderation.audit import Operator
from ladder.moderation.bots import (
    delete_account,
    reinstate,
    set_aside,
    set_organiser,
)
from ladder.moderation.models import AuditEntry, StoppedUnit
from torres.common.errors import LadderError

Kind = AuditEntry.Kind


def operator_of(request: HttpRequest) -> Operator:
    """Return the signed-in person as an operator for the audit log."""
    person = request.user
    return Operator(person if isinstance(person, User) else None, "in the admin")


admin.site.unregister([User, Group, Worker])


@admin.register(Worker)
class AuditedWorkerAdmin(WorkerAdmin):
    """Workers, with the actions of `workers`, which are audited."""

    actions = ("drain", "undrain")

    @admin.action(description="Drain: no more games")
    def drain(self, request: HttpRequest, rows: QuerySet[Worker]) -> None:
        self._act(request, rows, workers.drain, "drained")

    @admin.action(description="Undrain: let the installation take games again")
    def undrain(self, request: HttpRequest, rows: QuerySet[Worker]) -> None:
        self._act(request, rows, workers.undrain, "undrained")

    def _act(
        self,
        request: HttpRequest,
        rows: QuerySet[Worker],
        action: Callable[[Operator, str], AuditEntry],
        done: str,
    ) -> None:
        for worker in rows:
            try:
                action(operator_of(request), worker.name)
            except LadderError as refusal:
                self.message_user(request, str(refusal), messages.ERROR)
            else:
                self.log_change(request, worker, done)


@admin.register(Group)
class OperatorGroupAdmin(ChecksKeys, GroupAdmin):  # type: ignore[misc]
    """Django's pages of groups, with a check of hostile keys."""


@admin.register(User)
class AccountAdmin(ChecksKeys, UserAdmin[User]):
    """Django's pages of users. They delete an account completely, with its bots.

    An operator who signed in with a token only reads them. Otherwise the token could
    set the password of any account, and with that outlive itself.
    """

    actions = ("make_organisers", "take_role_of_organiser")

    @admin.action(description="Make organisers", permissions=["change"])
    def make_organisers(self, request: HttpRequest, rows: QuerySet[User]) -> None:
        self._set_organisers(request, rows, Kind.ORGANISER)

    @admin.action(description="Take the role of organiser", permissions=["change"])
    def take_role_of_organiser(
        self, request: HttpRequest, rows: QuerySet[User]
    ) -> None:
        self._set_organisers(request, rows, Kind.NO_ORGANISER)

    def _set_organisers(
        self, request: HttpRequest, rows: QuerySet[User], kind: AuditEntry.Kind
    ) -> None:
        for user in rows:
            set_organiser(operator_of(request), user, kind)
            self.log_change(request, user, kind.label)
        self.message_user(request, f"{kind.label}: {len(rows)} accounts.")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return super().has_add_permission(request) and not is_by_token(request)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return super().has_change_permission(request, obj) and not is_by_token(request)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return super().has_delete_permission(request, obj) and not is_by_token(request)

    def save_model(
        self,
        request: HttpRequest,
        obj: User,
        form: Any,
        change: bool,  # noqa: FBT001 - the signature of Django
    ) -> None:
        super().save_model(request, obj, form, change)
        remember_name(obj)

    def delete_model(self, request: HttpRequest, obj: User) -> None:
        delete_account(operator_of(request), obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        for user in queryset:
            delete_account(operator_of(request), user)


class SubmissionInline(admin.TabularInline[Submission, Bot]):
    model = Submission
    fields = readonly_fields = ("number", "status", "language", "size", "created_at")
    show_change_link = True
    can_delete = False
    extra = 0

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Bot)
class BotAdmin(ReadOnly):
    list_display = ("slug", "name", "owner", "house", "status", "created_at")
    list_filter = ("status", "house", "created_at")
    search_fields = ("slug", "name", "owner__username")
    list_select_related = ("owner",)
    inlines = (SubmissionInline,)
    actions = ("ban", "bench", "let_play")

    @admin.action(description="Ban")
    def ban(self, request: HttpRequest, rows: QuerySet[Bot]) -> None:
        self._set_aside(request, rows, Kind.BAN)

    @admin.action(description="Bench")
    def bench(self, request: HttpRequest, rows: QuerySet[Bot]) -> None:
        self._set_aside(request, rows, Kind.BENCH)

    @admin.action(description="Let play again")
    def let_play(self, request: HttpRequest, rows: QuerySet[Bot]) -> None:
        for bot in rows:
            reinstate(operator_of(request), bot)
            self.log_change(request, bot, "reinstated")
        self.message_user(request, f"{len(rows)} bots play again.")

    def _set_aside(
        self, request: HttpRequest, rows: QuerySet[Bot], kind: AuditEntry.Kind
    ) -> None:
        for bot in rows:
            set_aside(operator_of(request), bot, kind)
            self.log_change(request, bot, kind.label)
        self.message_user(request, f"{kind.label}: {len(rows)} bots.")


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnly):
    list_display = ("at", "kind", "target", "by", "why")
    list_filter = ("kind", "at")
    search_fields = ("target", "why")
    list_select_related = ("by",)


@admin.register(StoppedUnit)
class StoppedUnitAdmin(ReadOnly):
    list_display = ("__str__", "error", "advice", "since")
    list_filter = ("kind",)
    search_fields = ("name", "error")
