"""The audit log."""

from django.conf import settings
from django.db import models
from django.db.models.functions import Now

MAX_WHY_LENGTH = 300


class AuditEntry(models.Model):
    """One action of an operator, or of the service itself. Entries never change."""

    class Kind(models.TextChoices):
        BENCH = "bench"
        BAN = "ban"
        WITHDRAW = "withdraw"
        REINSTATE = "reinstate"
        VOID = "void"
        RERUN = "rerun"
        FREEZE = "freeze"
        REOPEN = "reopen"
        FINALS = "finals"
        ARCHIVE = "archive"
        START = "start"
        PARAMETERS = "parameters"
        MERGE = "merge"
        DELETE_ACCOUNT = "delete_account"

    kind = models.CharField(max_length=16, choices=Kind.choices)
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="audit_entries",
        help_text="Null for the service itself and for its console.",
    )
    target = models.CharField(max_length=100, help_text='"bot ana", "game 7", ...')
    why = models.CharField(max_length=MAX_WHY_LENGTH)
    details = models.JSONField(default=dict, blank=True)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["-pk"]
        verbose_name_plural = "audit entries"

    def __str__(self) -> str:
        return f"{self.kind} {self.target}"
