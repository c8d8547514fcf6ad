"""Bots and their immutable submissions."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from ladder.common.leases import Leased
from ladder.common.tracing import MAX_TRACEPARENT_CHARS


class Bot(models.Model):
    """A competitor. It keeps its name and its rating over all its uploads."""

    class Status(models.TextChoices):
        ACTIVE = "active"
        BENCHED = "benched", "benched by an operator"
        WITHDRAWN = "withdrawn", "withdrawn by its owner"
        BANNED = "banned"

    slug = models.SlugField(max_length=64, unique=True)
    name = models.CharField(max_length=64)
    # The result of `common.names.name_key`. Null for the names of deleted bots.
    name_key = models.CharField(
        max_length=400, null=True, blank=True, unique=True, editable=False
    )
    name_salt = models.CharField(
        max_length=32,
        blank=True,
        editable=False,
        help_text="Hexadecimal. Public: with it, the log's hash proves the name.",
    )
    # Null for house bots, and for bots whose owner's account was deleted: such a bot
    # stays, because the results of its opponents depend on it.
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="bots",
    )
    house = models.BooleanField(default=False)
    status = models.CharField(
        max_length=10, choices=Status.choices, default=Status.ACTIVE
    )
    open_to_practice = models.BooleanField(
        default=False, help_text="Other people may play against it by hand, unrated."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.slug

    @property
    def is_gone(self) -> bool:
        """True for the bots of GONE."""
        has_no_owner = self.owner_id is None and not self.house
        was_deleted = self.status == self.Status.WITHDRAWN and has_no_owner
        return was_deleted or self.status == self.Status.BANNED


GONE = Q(status=Bot.Status.BANNED) | Q(
    status=Bot.Status.WITHDRAWN, owner=None, house=False
)
"""The bots that may play nowhere: banned, or their owner's account was deleted."""


class Submission(Leased):
    """One upload. Its files never change. README.md shows how its status changes."""

    class Status(models.TextChoices):
        UPLOADED = "uploaded"
        BUILDING = "building"
        VALIDATING = "validating"
        READY = "ready"
        REJECTED = "rejected"
        WAITING = "waiting", "waiting for a worker that can run it safely"
        RETIRED = "retired"

    bot = models.ForeignKey(Bot, models.CASCADE, related_name="submissions")
    number = models.PositiveIntegerField()
    digest = models.CharField(
        max_length=64, help_text="SHA-256 over the sorted paths and contents."
    )
    status = models.CharField(
        max_length=10, choices=Status.choices, default=Status.UPLOADED
    )
    language = models.CharField(max_length=20)
    entry = models.CharField(max_length=255)
    size = models.PositiveBigIntegerField(help_text="Bytes after unpacking.")
    # For everybody: {"summary": str, "steps": [{"name", "ok", "detail", "ms"}, ...]}.
    report = models.JSONField(default=dict, blank=True)
    # Compiler output and stderr of the validation: only the owner may read it.
    log = models.TextField(blank=True)
    # The lease is of the worker that validates the submission. In `waiting` it is the
    # time of the next attempt.
    failures = models.PositiveSmallIntegerField(
        default=0, help_text="How often the service itself failed to validate it."
    )
    failed_hosts = models.JSONField(
        default=list, blank=True, help_text="The hosts of workers that failed."
    )
    # Rejected because the service failed, not the bot. `lease_until` is then the time
    # from which the same upload is validated again.
    service_failed = models.BooleanField(default=False)
    claimed_at = models.DateTimeField(null=True, blank=True)
    claimed_host = models.CharField(
        max_length=80, blank=True, help_text="The host of the worker that claimed it."
    )
    traceparent = models.CharField(
        max_length=MAX_TRACEPARENT_CHARS,
        blank=True,
        help_text="The trace of the upload, if it has one.",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    ready_at = models.DateTimeField(
        null=True, blank=True, help_text="When it became ready, the last time."
    )

    class Meta:
        indexes = [
            models.Index(
                fields=["lease_until"],
                condition=models.Q(
                    status__in=["uploaded", "building", "validating", "waiting"]
                ),
                name="submission_open",
            ),
            models.Index(
                fields=["ready_at"],
                condition=models.Q(status="ready"),
                name="submission_ready",
            ),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["bot", "number"], name="one_number_per_submission"
            ),
            models.UniqueConstraint(
                fields=["bot", "digest"], name="one_submission_per_digest"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.bot.slug} #{self.number}"

    @property
    def package(self) -> str:
        """Return the name of the stored zip, which is in the folder of its bot.

        Bots share no packages, also if the files are the same.
        """
        return f"{self.bot_id}/{self.digest}.zip"


class SourceFingerprint(models.Model):
    """A fingerprint of the files of a submission, to find copies (`anomalies`).

    It is computed once, and deleted with the files. `hashes` are 64-bit numbers, the
    least ones of `total`, in ascending order.
    """

    submission = models.OneToOneField(
        Submission, models.CASCADE, primary_key=True, related_name="fingerprint"
    )
    method = models.PositiveSmallIntegerField(
        help_text="The version of the method that computed it."
    )
    hashes = models.BinaryField()
    total = models.PositiveIntegerField()
    files = models.JSONField(help_text="A digest of each file, and its path.")

    def __str__(self) -> str:
        return f"fingerprint of {self.submission_id}"


# Columns of a submission that workers write but may not read.
PRIVATE = ("log", "report")
# The digest of a submission without files begins with this.
LOST_DIGEST = "lost-"
# A submission in one of these states still needs a worker.
OPEN = (
    Submission.Status.UPLOADED,
    Submission.Status.BUILDING,
    Submission.Status.VALIDATING,
    Submission.Status.WAITING,
)
# A worker has claimed it, and may have lost the claim since.
CLAIMED = (Submission.Status.BUILDING, Submission.Status.VALIDATING)
