"""Analyses of finished games: requests that wait, and results that stay."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from ladder.bots.models import Bot
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
    which `line` begins. `key` identifies both, so that nothing is computed twice. A
    story is the analysis of a whole game that the service computes by itself.
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
    story = models.BooleanField(default=False, help_text="Requested by no person.")
    status = models.CharField(
        max_length=10, choices=AnalysisStatus.choices, default=AnalysisStatus.WAITING
    )
    attempts = models.PositiveSmallIntegerField(default=0)
    cpu_s = models.FloatField(default=0, help_text="Processor time of all attempts.")
    document = models.JSONField(null=True, blank=True, help_text="The result.")
    note = models.CharField(
        max_length=MAX_REASON_CHARS, blank=True, help_text="Why it failed."
    )
    created_at = models.DateTimeField(db_default=Now())
    started_at = models.DateTimeField(
        null=True, blank=True, help_text="The start of the last attempt."
    )
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
            # Two processes that choose a story at once would spend the budget twice.
            models.UniqueConstraint(
                fields=["story"],
                condition=Q(story=True, status__in=OPEN_ANALYSIS),
                name="one_open_story",
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
            models.Index(
                fields=["-created_at"], condition=Q(story=True), name="analysis_story"
            ),
        ]

    def __str__(self) -> str:
        what = "" if self.ply is None else f" after {self.ply} actions"
        return f"analysis of game {self.game_id}{what}"

    @property
    def is_open(self) -> bool:
        return self.status in OPEN_ANALYSIS


class SeatReview(models.Model):
    """The turns of one seat of an analysed game, for the weaknesses of its bot."""

    analysis = models.ForeignKey(
        Analysis, models.CASCADE, related_name="reviews", db_index=False
    )
    seat = models.PositiveSmallIntegerField()
    bot = models.ForeignKey(Bot, models.CASCADE, related_name="+", db_index=False)
    turns = models.JSONField(help_text="As in `engine.seat_reviews`.")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["analysis", "seat"], name="one_review_per_seat"
            )
        ]
        indexes = [models.Index(fields=["bot", "-analysis"], name="review_of_bot")]

    def __str__(self) -> str:
        return f"seat {self.seat} in {self.analysis}"
