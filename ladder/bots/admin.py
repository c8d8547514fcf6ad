"""The admin pages of submissions. Those of bots are in `ladder.moderation`."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from ladder.bots import submissions
from ladder.bots.models import Submission
from ladder.common.admin import ReadOnly


@admin.register(Submission)
class SubmissionAdmin(ReadOnly):
    list_display = (
        "__str__",
        "status",
        "language",
        "size",
        "failures",
        "service_failed",
        "lease_until",
        "created_at",
    )
    list_filter = ("status", "service_failed", "language", "bot__house")
    search_fields = ("bot__slug", "digest")
    list_select_related = ("bot",)
    date_hierarchy = "created_at"
    unlisted = ("report", "log")
    actions = ("try_again",)

    @admin.action(description="Validate again")
    def try_again(self, request: HttpRequest, rows: QuerySet[Submission]) -> None:
        for submission in rows:
            submissions.restart(submission)
            self.log_change(request, submission, "validated again")
        self.message_user(request, f"{len(rows)} submissions will be validated again.")
