"""The audit log, unfinished erasures, and notices for operators."""

from django.conf import settings
from django.db import models
from django.db.models.functions import Now

from ladder.bots.models import Bot
from ladder.common.leases import Leased

MAX_WHY_LENGTH = 300
MAX_ERROR_LENGTH = 500


class AuditEntry(models.Model):
    """One action of an operator, or of the service itself.

    Entries never change, except that a deleted account takes the names of its bots out
    of them. Where several acts have one kind, `step` in the details names the act.
    """

    class Kind(models.TextChoices):
        BENCH = "bench"
        BAN = "ban"
        WITHDRAW = "withdraw"
        REINSTATE = "reinstate"
        JOIN = "join"
        LEAVE = "leave"
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
        DRAIN = "drain"
        UNDRAIN = "undrain"
        ORGANISER = "organiser"
        NO_ORGANISER = "no_organiser"
        TOURNAMENT = "tournament"
        ACCOUNT = "account"
        UPLOAD = "upload"
        GAME = "game"
        EXTRA = "extra"

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
        indexes = [
            models.Index(fields=["kind", "-id"], name="audit_by_kind"),
            models.Index(fields=["target", "-id"], name="audit_by_target"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.target}"


class StoppedUnit(models.Model):
    """One unit of the dispatcher's work that is stopped by an error of its own.

    The other units go on. The row exists until the unit works again or ends.
    """

    kind = models.CharField(max_length=20, help_text='"tournament", "ratings", ...')
    name = models.CharField(max_length=80, help_text="A slug, or a part's name.")
    error = models.CharField(max_length=MAX_ERROR_LENGTH)
    advice = models.CharField(max_length=MAX_WHY_LENGTH)
    traceback = models.TextField(blank=True)
    since = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["kind", "name"]
        constraints = [
            models.UniqueConstraint(
                fields=["kind", "name"], name="a_unit_is_stopped_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


class ServicePart(models.Model):
    """A part of the service that runs once, and when it last reported.

    A part that is stopped in an orderly way removes its row.
    """

    name = models.CharField(max_length=20, primary_key=True)
    process = models.CharField(max_length=120, help_text="Host and process id.")
    seen_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return self.name


class DispatcherLease(Leased):
    """The one row that says which dispatcher leads (`ladder.dispatch.leader`)."""

    holder = models.CharField(max_length=120, help_text="Host and process id.")

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(pk=1), name="there_is_one_dispatcher_lease"
            )
        ]

    def __str__(self) -> str:
        return f"{self.holder}, fence {self.fence}"


class Erasure(models.Model):
    """A bot of a deleted account whose games still hold its name and logs (`erasure`).

    The row is deleted after the last game.
    """

    bot = models.OneToOneField(Bot, models.CASCADE, related_name="erasure")
    last_game = models.BigIntegerField(
        default=0, help_text="The games up to this one are done."
    )

    def __str__(self) -> str:
        return f"erasure of {self.bot}"
