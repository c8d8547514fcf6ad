"""Bots, submissions and tokens for an operator."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from ladder.bots import services
from ladder.bots.models import ApiToken, Bot, Submission
from ladder.common.admin import ReadOnly


class Uploads(admin.TabularInline[Submission, Bot]):
    model = Submission
    fields = readonly_fields = ("number", "status", "language", "size", "created_at")
    show_change_link = True
    can_delete = False
    extra = 0

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        del request, obj
        return False


@admin.register(Bot)
class BotAdmin(ReadOnly):
    list_display = ("slug", "name", "owner", "house", "status", "created_at")
    list_filter = ("status", "house", "created_at")
    search_fields = ("slug", "name", "owner__username")
    list_select_related = ("owner",)
    inlines = (Uploads,)
    actions = ("ban", "bench", "let_play")

    @admin.action(description="Ban")
    def ban(self, request: HttpRequest, rows: QuerySet[Bot]) -> None:
        self._set(request, rows, Bot.Status.BANNED)

    @admin.action(description="Bench")
    def bench(self, request: HttpRequest, rows: QuerySet[Bot]) -> None:
        self._set(request, rows, Bot.Status.BENCHED)

    @admin.action(description="Let play again")
    def let_play(self, request: HttpRequest, rows: QuerySet[Bot]) -> None:
        self._set(request, rows, Bot.Status.ACTIVE)

    def _set(
        self, request: HttpRequest, rows: QuerySet[Bot], status: Bot.Status
    ) -> None:
        for bot in rows:
            services.set_status(bot, status)
            self.log_change(request, bot, f"status: {status}")
        self.message_user(request, f"{len(rows)} bots are {status} now.")


@admin.register(Submission)
class SubmissionAdmin(ReadOnly):
    list_display = (
        "__str__",
        "status",
        "language",
        "size",
        "failures",
        "lease_until",
        "created_at",
    )
    list_filter = ("status", "language", "bot__house")
    search_fields = ("bot__slug", "digest")
    list_select_related = ("bot",)
    date_hierarchy = "created_at"
    actions = ("try_again",)

    @admin.action(description="Try again from the start")
    def try_again(self, request: HttpRequest, rows: QuerySet[Submission]) -> None:
        for submission in rows:
            services.rebuild(submission)
            self.log_change(request, submission, "tried again")
        self.message_user(request, f"{len(rows)} submissions will be tried again.")


@admin.register(ApiToken)
class ApiTokenAdmin(ReadOnly):
    """Tokens are made by `manage.py token` and by their owners; here they are ended."""

    list_display = (
        "prefix",
        "user",
        "name",
        "created_at",
        "expires_at",
        "last_used_at",
    )
    list_filter = ("created_at", ("expires_at", admin.EmptyFieldListFilter))
    search_fields = ("user__username", "prefix", "name")
    list_select_related = ("user",)
    exclude = ("digest",)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return admin.ModelAdmin.has_delete_permission(self, request, obj)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return [f for f in super().get_readonly_fields(request, obj) if f != "digest"]
