"""Spot checks: seats of finished games that are asked again on another host."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from ladder.bots.models import Submission
from ladder.common.leases import Leased
from ladder.games.models import MAX_REASON_CHARS, Game

MAX_INSTALLATION_CHARS = 80  # as in `games.worker.registry`


class SpotCheckVerdict(models.TextChoices):
    """The result of a spot check."""

    OPEN = "open"
    SAME = "same"
    """The bot gave the same answers as in the game."""
    VARIES = "varies"
    """The bot gave another answer, and yet another one when it was asked again."""
    DISPUTED = "disputed"
    """The bot gave another answer than in the game, twice the same one."""
    FAILED = "failed"
    """No host could ask the bot."""


class SpotCheck(Leased):
    """A seat of a finished game, whose bot gets the recorded questions again.

    `played_on` is the installation that played the game, and `checked_on` the one that
    asked again. A worker may not read the replays of games, so `replay` is a copy of
    the stored one; it is deleted when the check ends.
    """

    game = models.ForeignKey(
        Game, models.CASCADE, related_name="spot_checks", db_index=False
    )
    seat = models.PositiveSmallIntegerField()
    submission = models.ForeignKey(
        Submission, models.CASCADE, related_name="spot_checks", db_index=False
    )
    replay = models.BinaryField(null=True)
    played_on = models.CharField(max_length=MAX_INSTALLATION_CHARS)
    checked_on = models.CharField(max_length=MAX_INSTALLATION_CHARS, blank=True)
    verdict = models.CharField(
        max_length=10,
        choices=SpotCheckVerdict.choices,
        default=SpotCheckVerdict.OPEN,
    )
    attempts = models.PositiveSmallIntegerField(default=0)
    note = models.CharField(
        max_length=MAX_REASON_CHARS, blank=True, help_text="The first difference."
    )
    created_at = models.DateTimeField(db_default=Now())
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["game", "seat"], name="one_spot_check_per_seat"
            ),
            models.CheckConstraint(
                condition=Q(verdict__in=SpotCheckVerdict.values),
                name="spot_check_verdict_is_known",
            ),
            models.CheckConstraint(
                condition=Q(
                    verdict=SpotCheckVerdict.OPEN,
                    ended_at__isnull=True,
                    replay__isnull=False,
                )
                | (
                    ~Q(verdict=SpotCheckVerdict.OPEN)
                    & Q(ended_at__isnull=False, replay__isnull=True)
                ),
                name="spot_check_is_open_or_ended",
            ),
        ]
        indexes = [
            models.Index(
                fields=["id"],
                condition=Q(verdict=SpotCheckVerdict.OPEN),
                name="spot_check_open",
            ),
            models.Index(
                fields=["submission"],
                condition=Q(verdict=SpotCheckVerdict.VARIES),
                name="submission_varies",
            ),
            models.Index(fields=["created_at"], name="spot_check_created"),
        ]

    def __str__(self) -> str:
        return f"spot check of seat {self.seat} of game {self.game_id}"
