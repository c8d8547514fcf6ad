"""Matches and their games: what is claimed, played, stored and counted.

A match is the contest and carries its own copy of everything that play depends on,
so that a later change of a ladder cannot change a game. Of every game that was
created one query can say what became of it (`GameStatus`).
"""

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from ladder.bots.models import Submission

MAX_SEATS = 4


class Worker(models.Model):
    """One worker process: what it is, what it can do, and when it was last heard."""

    name = models.CharField(max_length=120, unique=True, help_text="host:pid:start")
    host = models.CharField(max_length=80)
    versions = models.JSONField(default=dict, help_text="python, engine, service")
    languages = models.JSONField(default=list)
    sandbox = models.CharField(max_length=10, blank=True, help_text="level reached")
    slots = models.PositiveSmallIntegerField(default=1)
    # What the calibration bot needed here, of thinking time; null until it has run.
    calibration_ms = models.FloatField(null=True, blank=True)
    load = models.FloatField(default=0)
    started_at = models.DateTimeField(db_default=Now())
    seen_at = models.DateTimeField(db_default=Now())
    # The watchdog's evidence: alive, but taking no work, is deaf.
    claimed_at = models.DateTimeField(null=True, blank=True)
    gone_at = models.DateTimeField(null=True, blank=True)
    drained = models.BooleanField(default=False, help_text="gets no more games")
    drained_why = models.CharField(max_length=200, blank=True)

    def __str__(self) -> str:
        return self.name


class Match(models.Model):
    """One scheduled contest of 2 to 4 submissions over one set-up.

    It holds one game, or several with the same decks and rotated seats.
    """

    class Kind(models.TextChoices):
        LADDER = "ladder"
        CHALLENGE = "challenge"
        TOURNAMENT = "tournament"

    kind = models.CharField(max_length=10, choices=Kind.choices)
    ruleset = models.CharField(max_length=40)
    switches = models.JSONField(help_text="Every switch, resolved for the seats.")
    seats = models.PositiveSmallIntegerField()
    limits = models.JSONField(help_text="As in the bot's hello; the clock included.")
    # Decks are derived from it: shown only when `games` are all over.
    seed = models.CharField(max_length=32, help_text="128 random bits, in hex. Secret.")
    # Written down apart from the games themselves, so that a lost row is missed.
    planned = models.PositiveSmallIntegerField(default=1, help_text="Games created.")
    # Set and lifted by the room above; `shown` is where it is asked.
    embargo = models.BooleanField(
        default=False, help_text="Nothing of it is shown to anybody yet."
    )
    # Copies, as the terms above. So a ladder's slug must not change.
    ladder = models.SlugField(
        max_length=40, blank=True, help_text="The ladder that rates it, or empty."
    )
    why = models.JSONField(
        null=True, blank=True, help_text="Why the matchmaker made it."
    )
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        verbose_name_plural = "matches"
        constraints = [
            models.CheckConstraint(
                condition=Q(kind__in=["ladder", "challenge", "tournament"]),
                name="match_kind_is_known",
            ),
            models.CheckConstraint(
                condition=Q(seats__range=(2, MAX_SEATS)), name="match_has_2_to_4_seats"
            ),
        ]

    def __str__(self) -> str:
        return f"match {self.pk}"


class GameStatus(models.TextChoices):
    """Where a game stands.

    scheduled -> running -> finished -> voided; a failed attempt leads from running
    back to scheduled, the third to dead; a scheduled game may be cancelled.
    """

    SCHEDULED = "scheduled"
    RUNNING = "running"
    FINISHED = "finished"
    DEAD = "dead", "dead: three attempts failed"
    CANCELLED = "cancelled"
    VOIDED = "voided", "voided: declared invalid after it finished"


OPEN = (GameStatus.SCHEDULED, GameStatus.RUNNING)


class Game(models.Model):
    """One play of Torres, by one worker at a time.

    `fence` grows with every claim: whoever writes with an older one is refused.
    Lists should `.defer("replay")`.
    """

    Status = GameStatus

    match = models.ForeignKey(Match, models.PROTECT, related_name="games")
    index = models.PositiveSmallIntegerField(default=0, help_text="From 0.")
    status = models.CharField(
        max_length=10, choices=GameStatus.choices, default=GameStatus.SCHEDULED
    )
    queue = models.CharField(max_length=40, default="play")
    priority = models.SmallIntegerField(default=0, help_text="Higher is sooner.")
    # What a worker has to offer: words, see `abilities`.
    needs = models.CharField(max_length=120, blank=True)
    # When the last hint was sent, and to which queue: lost hints are sent again.
    sent_at = models.DateTimeField(null=True, blank=True)
    sent_to = models.CharField(max_length=40, blank=True)
    owner = models.ForeignKey(
        Worker, models.PROTECT, null=True, blank=True, related_name="games"
    )
    lease_until = models.DateTimeField(null=True, blank=True)
    fence = models.PositiveIntegerField(default=0)
    failures = models.PositiveSmallIntegerField(default=0, help_text="Failed attempts.")
    created_at = models.DateTimeField(db_default=Now())
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    replaces = models.OneToOneField(
        "self", models.PROTECT, null=True, blank=True, related_name="replacement"
    )
    # How it ended ("completed", "last_standing"); why it was cancelled, dead, voided.
    reason = models.CharField(max_length=20, blank=True)
    note = models.CharField(max_length=200, blank=True)
    engine = models.CharField(max_length=20, blank=True, help_text="Its version.")
    replay = models.BinaryField(null=True, blank=True, help_text="zstd of the JSON.")

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(status__in=GameStatus.values), name="game_status_is_known"
            ),
            models.CheckConstraint(
                condition=Q(
                    status="running", lease_until__isnull=False, owner__isnull=False
                )
                | (~Q(status="running") & Q(lease_until__isnull=True)),
                name="game_has_a_lease_exactly_while_running",
            ),
            models.CheckConstraint(
                condition=~Q(status__in=["finished", "voided"])
                | (
                    Q(finished_at__isnull=False, replay__isnull=False)
                    & Q(reason__in=["completed", "last_standing"])
                ),
                name="game_with_a_result_has_a_replay",
            ),
            models.UniqueConstraint(
                fields=["match", "index"],
                condition=~Q(status="voided"),
                name="one_valid_game_per_index",
            ),
        ]
        indexes = [
            models.Index(
                F("priority").desc(),
                F("id"),
                condition=Q(status="scheduled"),
                name="game_waiting",
            ),
            models.Index(
                fields=["lease_until"],
                condition=Q(status="running"),
                name="game_leased",
            ),
            models.Index(
                fields=["match"], condition=Q(status="voided"), name="game_voided"
            ),
            models.Index(fields=["-finished_at"], name="game_finished"),
        ]

    def __str__(self) -> str:
        return f"game {self.pk}"


class Fault(models.TextChoices):
    """Why a seat forfeited: the words of the contract, section 8."""

    PROTOCOL = "protocol"
    ILLEGAL_ACTION = "illegal_action"
    TIMEOUT = "timeout"
    CRASH = "crash"
    MEMORY = "memory"
    OUTPUT = "output"


class Seat(models.Model):
    """Who sits where, and how well it did; `rank` is 1-based, null until the end."""

    game = models.ForeignKey(Game, models.CASCADE, related_name="seats")
    number = models.PositiveSmallIntegerField(help_text="From 0.")
    submission = models.ForeignKey(Submission, models.PROTECT, related_name="places")
    score = models.PositiveSmallIntegerField(null=True, blank=True)
    rank = models.PositiveSmallIntegerField(null=True, blank=True)
    fault = models.CharField(max_length=20, choices=Fault.choices, blank=True)
    # One sentence for the bot's owner alone.
    fault_detail = models.TextField(blank=True)

    class Meta:
        ordering = ["game", "number"]
        constraints = [
            models.UniqueConstraint(
                fields=["game", "number"], name="one_seat_per_number"
            ),
            models.CheckConstraint(
                condition=Q(number__lt=MAX_SEATS), name="seat_number_exists"
            ),
            models.CheckConstraint(
                condition=Q(rank__isnull=True, score__isnull=True)
                | Q(rank__range=(1, MAX_SEATS), score__isnull=False),
                name="seat_has_rank_and_score_or_neither",
            ),
            models.CheckConstraint(
                condition=Q(fault__in=["", *Fault.values]), name="seat_fault_is_known"
            ),
        ]

    def __str__(self) -> str:
        return f"seat {self.number} of game {self.game_id}"


class Attempt(models.Model):
    """One try to play a game. Added at the claim, closed once, never removed."""

    class Outcome(models.TextChoices):
        OPEN = "open"
        FINISHED = "finished"
        FAILED = "failed"
        # Handed back by a worker that was told to stop: nobody's fault, not counted.
        RELEASED = "released"

    game = models.ForeignKey(Game, models.CASCADE, related_name="attempts")
    fence = models.PositiveIntegerField()
    worker = models.ForeignKey(Worker, models.PROTECT, related_name="attempts")
    started_at = models.DateTimeField(db_default=Now())
    ended_at = models.DateTimeField(null=True, blank=True)
    outcome = models.CharField(
        max_length=10, choices=Outcome.choices, default=Outcome.OPEN
    )
    reason = models.CharField(max_length=200, blank=True)

    class Meta:
        ordering = ["game", "fence"]
        constraints = [
            models.UniqueConstraint(
                fields=["game", "fence"], name="one_attempt_per_fence"
            ),
            models.UniqueConstraint(
                fields=["game"],
                condition=Q(outcome="finished"),
                name="a_game_finishes_once",
            ),
            models.CheckConstraint(
                condition=Q(outcome="open", ended_at__isnull=True)
                | Q(
                    outcome__in=["finished", "failed", "released"],
                    ended_at__isnull=False,
                ),
                name="attempt_is_open_or_ended",
            ),
        ]

    def __str__(self) -> str:
        return f"attempt {self.fence} at game {self.game_id}"


class StoredAnswer(models.Model):
    """One answer of a seat, stored as it came, so that a running game can be watched.

    The answers of a finished attempt are in the replay, and only there; those of a
    failed attempt stay here.
    """

    attempt = models.ForeignKey(Attempt, models.CASCADE, related_name="answers")
    index = models.PositiveIntegerField(help_text="From 0, as in the replay's moves.")
    seat = models.PositiveSmallIntegerField()
    actions = models.JSONField()
    ms = models.FloatField(help_text="Charged thinking time.")
    auto = models.BooleanField(default=False, help_text="Answered for a forfeited seat")

    class Meta:
        ordering = ["attempt", "index"]
        constraints = [
            models.UniqueConstraint(
                fields=["attempt", "index"], name="one_answer_per_index"
            )
        ]

    def __str__(self) -> str:
        return f"answer {self.index} of attempt {self.attempt_id}"


class SeatLog(models.Model):
    """What one seat left behind in one attempt; for the bot's owner alone."""

    attempt = models.ForeignKey(Attempt, models.CASCADE, related_name="logs")
    number = models.PositiveSmallIntegerField(help_text="The seat, from 0.")
    stderr = models.TextField(blank=True)
    notes = models.JSONField(default=list, help_text='[{"ply": 12, "note": "..."}]')
    # What the sandbox measured and saw: CPU, memory, exit code, signals.
    verdict = models.JSONField(default=dict)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["attempt", "number"], name="one_log_per_seat_and_attempt"
            )
        ]

    def __str__(self) -> str:
        return f"log of seat {self.number}, attempt {self.attempt_id}"
