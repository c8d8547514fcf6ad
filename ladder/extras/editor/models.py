"""Trials: games of code from the editor against a house bot, and nothing is rated."""

from django.conf import settings
from django.db import models
from django.db.models.functions import Now

from ladder.bots.models import Bot
from ladder.common.leases import Leased
from ladder.extras.practice.models import constraints_of_player, indexes_of_player
from ladder.games.models import MAX_REASON_CHARS


class TrialStatus(models.TextChoices):
    """The states of a trial: waiting -> running -> finished or failed."""

    WAITING = "waiting", "waits for a free slot"
    RUNNING = "running"
    FINISHED = "finished"
    FAILED = "failed", "was not played to its end"


OPEN_TRIALS = (TrialStatus.WAITING, TrialStatus.RUNNING)


class TrialGame(Leased):
    """One game of two seats with the code of a person, and its result.

    The person has an account (`owner`), or is a guest, whose browser holds the key
    `guest` in a signed cookie. A trial is claimed once: if its host is lost, it fails,
    because the person is waiting and can begin another one.
    """

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.CASCADE,
        related_name="trials",
        null=True,
        blank=True,
    )
    guest = models.CharField(
        max_length=32, blank=True, help_text="The key of a guest, in hex. Secret."
    )
    language = models.CharField(max_length=20)
    source = models.TextField(help_text="The code of the person. Private.")
    opponent = models.ForeignKey(Bot, models.CASCADE, related_name="+")
    ruleset = models.CharField(max_length=40)
    seat = models.PositiveSmallIntegerField(help_text="Where the code plays.")
    status = models.CharField(
        max_length=10, choices=TrialStatus.choices, default=TrialStatus.WAITING
    )
    note = models.CharField(
        max_length=MAX_REASON_CHARS, blank=True, help_text="Why it failed."
    )
    host = models.CharField(max_length=80, blank=True)
    result = models.JSONField(null=True, blank=True, help_text="As in a replay.")
    findings = models.JSONField(default=list, help_text="As of `torres check`.")
    log = models.TextField(blank=True, help_text="The stderr of the code. Private.")
    replay = models.BinaryField(null=True, help_text="Compressed, see games.replays.")
    created_at = models.DateTimeField(db_default=Now())
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = constraints_of_player(
            "trial", TrialStatus.values, OPEN_TRIALS, "one_open_trial_per_person"
        )
        indexes = [
            *indexes_of_player("trial", OPEN_TRIALS),
            models.Index(fields=["created_at"], name="trial_created"),
        ]

    def __str__(self) -> str:
        return f"trial {self.pk}"

    @property
    def is_open(self) -> bool:
        return self.status in OPEN_TRIALS
