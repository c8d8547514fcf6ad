"""Bots and their immutable submissions."""

from django.conf import settings
from django.db import models


class Bot(models.Model):
    """A competitor over many uploads."""

    class Status(models.TextChoices):
        ACTIVE = "active"
        BENCHED = "benched", "benched: several forfeits in a row"
        WITHDRAWN = "withdrawn", "withdrawn by its owner"
        BANNED = "banned"

    slug = models.SlugField(max_length=64, unique=True)
    name = models.CharField(max_length=64)
    # Null for house bots, and for bots whose owner's account was deleted: results stay.
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
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.slug


class Submission(models.Model):
    """One immutable upload, numbered per bot; its files never change."""

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
    # What happened to it, for anybody: {"summary": str, "steps": [...]}.
    report = models.JSONField(default=dict, blank=True)
    # Build log and stderr of the validation: the owner's alone.
    log = models.TextField(blank=True)
    # Whoever tries it writes with the fence it got; when the lease ends, another may.
    # For `waiting` it is when to look again.
    lease_until = models.DateTimeField(null=True, blank=True)
    fence = models.PositiveIntegerField(default=0)
    failures = models.PositiveSmallIntegerField(
        default=0, help_text="Times that we, not the bot, failed to try it."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    ready_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["lease_until"],
                condition=models.Q(
                    status__in=["uploaded", "building", "validating", "waiting"]
                ),
                name="submission_open",
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
        """Name what is stored of it; under its bot, so never shared between owners."""
        return f"{self.bot_id}/{self.digest}.zip"


OPEN = (
    Submission.Status.UPLOADED,
    Submission.Status.BUILDING,
    Submission.Status.VALIDATING,
    Submission.Status.WAITING,
)
