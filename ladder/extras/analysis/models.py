"""Analyses of finished games: requests that wait, and results that stay."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from ladder.common.leases import Leased
from ladder.games.models import MAX_REASON_CHARS, Game


class AnalysisStatus(models.TextChoices):
    """The states of an analysis.

    waiting -> running -> finished or failed. A failed one may be requested again.
    """

    WAITING = "waiting"
    RUNNING = "running"
    FINISHED = "finished"
    FAILED = "failed"


OPEN_ANALYSIS = (AnalysisStatus.WAITING, AnalysisStatus.RUNNING)


class Analysis(Leased):
    """The analysis of a game, or of the alternatives in one of its positions.

    `ply` is null for the whole game. Otherwise it is the number of the action before
    which `line` begins. `key` identifies both, so that nothing is computed twice.
    """

    game = models.ForeignKey(
        Game, models.CASCADE, related_name="analyses", db_index=False
    )
    key = models.CharField(max_length=64)
    ply = models.PositiveIntegerField(null=True, blank=True)
    line = models.JSONField(default=list, help_text="Actions from that ply on.")
    # Null if the account was deleted; the result is public and stays.
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        null=True,
        related_name="+",
        db_index=False,
    )
    status = models.CharField(
        max_length=10, choices=AnalysisStatus.choices, default=AnalysisStatus.WAITING
    )
    attempts = models.PositiveSmallIntegerField(default=0)
    document = models.JSONField(null=True, blank=True, help_text="The result.")
    note = models.CharField(
        max_length=MAX_REASON_CHARS, blank=True, help_text="Why it failed."
    )
    created_at = models.DateTimeField(db_default=Now())
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name_plural = "analyses"
        constraints = [
            models.UniqueConstraint(
                fields=["game", "key"], name="one_analysis_per_position"
            ),
            models.CheckConstraint(
                condition=Q(status__in=AnalysisStatus.values),
                name="analysis_status_is_known",
            ),
            models.CheckConstraint(
                condition=Q(status__in=OPEN_ANALYSIS, ended_at__isnull=True)
                | (~Q(status__in=OPEN_ANALYSIS) & Q(ended_at__isnull=False)),
                name="analysis_is_open_or_ended",
            ),
            models.CheckConstraint(
                condition=Q(document__isnull=False)
                | ~Q(status=AnalysisStatus.FINISHED),
                name="finished_analysis_has_a_document",
            ),
        ]
        indexes = [
            models.Index(fields=["by", "created_at"], name="analyses_of_a_day"),
            models.Index(
                fields=["id"],
                condition=Q(status__in=OPEN_ANALYSIS),
                name="analysis_open",
            ),
            models.Index(fields=["ended_at"], name="analysis_ended"),
        ]

    def __str__(self) -> str:
        what = "" if self.ply is None else f" after {self.ply} actions"
        return f"analysis of game {self.game_id}{what}"

    @property
    def is_open(self) -> bool:
        return self.status in OPEN_ANALYSIS
