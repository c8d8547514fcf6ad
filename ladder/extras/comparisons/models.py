"""Comparisons of two versions of a bot, and the blocks of games that they play.

A comparison has no running state in memory: the dispatcher reads its blocks and their
games in each step. The score of a block is a copy of the result of its finished games.
"""

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from ladder.bots.models import Bot, Submission
from ladder.games.models import MAX_REASON_CHARS, Match
from ladder.ratings.models import Ladder
from torres.rating.blocks import GAMES, BlockGame, head_to_head
from torres.rating.sprt import SequentialTest


class ComparisonStatus(models.TextChoices):
    """The states of a comparison.

    running -> decided, undecided, cancelled or stopped. No state leads back.
    """

    RUNNING = "running"
    DECIDED = "decided", "decided: the test was sure"
    UNDECIDED = "undecided", "undecided: the limit of games was reached"
    CANCELLED = "cancelled", "cancelled by its owner or an operator"
    STOPPED = "stopped", "stopped by the service"


class VersionComparison(models.Model):
    """A test of whether one version of a bot is better than another one.

    It holds its own copy of the terms, so that a later change of the ladder cannot
    change a test that has begun.
    """

    bot = models.ForeignKey(Bot, models.PROTECT, related_name="comparisons")
    new = models.ForeignKey(Submission, models.PROTECT, related_name="+")
    old = models.ForeignKey(Submission, models.PROTECT, related_name="+")
    # The quota counts these rows.
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="comparisons"
    )
    ladder = models.ForeignKey(Ladder, models.PROTECT, related_name="comparisons")
    ruleset = models.CharField(max_length=40)
    switches = models.JSONField(default=dict)
    limits = models.JSONField()
    sizes = models.JSONField(help_text="Numbers of seats. Blocks take turns with them.")
    nelo0 = models.FloatField(help_text="H0: the effect is at most this, in nElo.")
    nelo1 = models.FloatField(help_text="H1: the effect is at least this, in nElo.")
    error = models.FloatField(help_text="Probability of a wrong answer at each bound.")
    max_games = models.PositiveIntegerField()
    status = models.CharField(
        max_length=10,
        choices=ComparisonStatus.choices,
        default=ComparisonStatus.RUNNING,
    )
    note = models.CharField(
        max_length=MAX_REASON_CHARS, blank=True, help_text="Why it was stopped."
    )
    tested = models.PositiveIntegerField(
        default=0, help_text="Blocks that the test has taken in, from the first one on."
    )
    created_at = models.DateTimeField(db_default=Now())
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(status__in=ComparisonStatus.values),
                name="comparison_status_is_known",
            ),
            models.CheckConstraint(
                condition=Q(status="running", ended_at__isnull=True)
                | (~Q(status="running") & Q(ended_at__isnull=False)),
                name="comparison_is_running_or_ended",
            ),
            models.CheckConstraint(
                condition=Q(nelo0__lt=F("nelo1")), name="comparison_bounds_are_ordered"
            ),
            models.CheckConstraint(
                condition=~Q(new=F("old")), name="comparison_has_two_versions"
            ),
            models.UniqueConstraint(
                fields=["by"],
                condition=Q(status="running"),
                name="one_running_comparison_per_owner",
            ),
        ]
        indexes = [
            models.Index(fields=["by", "created_at"], name="comparisons_of"),
            models.Index(
                fields=["id"], condition=Q(status="running"), name="comparison_running"
            ),
        ]

    def __str__(self) -> str:
        return f"comparison {self.pk}"

    def sequential_test(self) -> SequentialTest:
        """Return the hypotheses of the test."""
        return SequentialTest(
            self.nelo0,
            self.nelo1,
            alpha=self.error,
            beta=self.error,
            games_per_block=GAMES,
        )

    def design(self, block: int) -> tuple[BlockGame, BlockGame]:
        """Return which version sits where in a block, counted from 0.

        Blocks take turns with the numbers of seats, and then with the seatings.
        """
        turns = len(self.sizes)
        return head_to_head(block // turns, self.sizes[block % turns])


class ComparisonBlock(models.Model):
    """One block of a comparison: a match of two games with the same decks."""

    comparison = models.ForeignKey(
        VersionComparison, models.CASCADE, related_name="blocks", db_index=False
    )
    number = models.PositiveIntegerField(help_text="From 0.")
    match = models.OneToOneField(Match, models.PROTECT, related_name="comparison_block")
    score = models.FloatField(
        null=True, blank=True, help_text="From 0 to 1. Null until both games ended."
    )
    # If it differs from the games, a game was voided after the block had its score.
    voids = models.PositiveSmallIntegerField(
        default=0, help_text="Voided games when the score was computed."
    )
    retries = models.PositiveSmallIntegerField(
        default=0, help_text="How often its dead games were scheduled again."
    )

    class Meta:
        ordering = ["comparison", "number"]
        constraints = [
            models.UniqueConstraint(
                fields=["comparison", "number"], name="one_block_per_number"
            ),
            models.CheckConstraint(
                condition=Q(score__isnull=True) | Q(score__range=(0, 1)),
                name="block_score_is_a_share",
            ),
        ]

    def __str__(self) -> str:
        return f"block {self.number} of comparison {self.comparison_id}"
