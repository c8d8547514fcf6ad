"""The tables of matches, games, seats, attempts and workers.

A match is a contest of bots. It holds its own copy of everything that play depends
on, so that a later change of a ladder cannot change a game. A game is one play of a
match, and an attempt is one try of one worker to play a game. Database constraints
refuse every state that makes no sense.
"""

from collections.abc import Sequence

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from engine.faults import EndReason, Fault
from ladder.bots.models import Bot, Submission
from ladder.common.leases import Leased
from ladder.common.tracing import MAX_TRACEPARENT_CHARS
from ladder.public_log.models import DeckBatch

MAX_SEATS = 4
MAX_REASON_CHARS = 200


def tied_ranks(ranks: Sequence[int | None]) -> list[bool]:
    """Return, for each of a game's ranks, whether another seat has the same one."""
    return [rank is not None and ranks.count(rank) > 1 for rank in ranks]


def installation_of(worker_name: str) -> str:
    """Return the installation in a worker's name: "host:data folder"."""
    return worker_name.rpartition("#")[0]


class Worker(models.Model):
    """One worker process: what it offers, and when it last reported."""

    # See `worker.registry.installation`.
    name = models.CharField(
        max_length=120, unique=True, help_text="host:data folder#pid-random"
    )
    # What a worker may change belongs to its role (`ops.worker_access`).
    role = models.CharField(
        max_length=63,
        db_default="",
        blank=True,
        editable=False,
        help_text="The user of PostgreSQL with which it signs in.",
    )
    host = models.CharField(max_length=80)
    versions = models.JSONField(
        default=dict, help_text="Of python, service, celery and rules."
    )
    languages = models.JSONField(default=list)
    sandbox = models.CharField(
        max_length=10, blank=True, help_text="The level that the sandbox reaches."
    )
    slots = models.PositiveSmallIntegerField(
        default=1, help_text="Games at once. 0 if it only checks uploads or folds."
    )
    upload_slots = models.PositiveSmallIntegerField(
        default=1, db_default=1, help_text="Uploads at once. 0 if it checks none."
    )
    memory_mb = models.PositiveIntegerField(
        null=True, blank=True, help_text="Of its host, in MiB. Null if unknown."
    )
    calibration_ms = models.FloatField(
        null=True,
        blank=True,
        help_text="Thinking time of a house bot in a fixed game. Null until measured.",
    )
    load = models.FloatField(default=0, help_text="Load average for each CPU.")
    timings = models.JSONField(
        default=dict, blank=True, help_text="Histograms, see `worker.timings`."
    )
    started_at = models.DateTimeField(db_default=Now())
    seen_at = models.DateTimeField(db_default=Now(), help_text="The last report.")
    claimed_at = models.DateTimeField(
        null=True, blank=True, help_text="The last report after a claim."
    )
    gone_at = models.DateTimeField(null=True, blank=True, help_text="The sign-off.")
    drained = models.BooleanField(default=False, help_text="Gets no more games.")
    drained_why = models.CharField(max_length=MAX_REASON_CHARS, blank=True)

    def __str__(self) -> str:
        return self.name

    @property
    def installation(self) -> str:
        """Return the name of the installation to which this process belongs."""
        return installation_of(self.name)


class Match(models.Model):
    """One scheduled contest of 2 to 4 submissions under one set of terms.

    A match has one game, or several with the same decks and rotated seats. Matches that
    were planned together may share one deal, so that all their games have its decks.
    """

    class Kind(models.TextChoices):
        LADDER = "ladder"
        CHALLENGE = "challenge"
        TOURNAMENT = "tournament"
        COMPARISON = "comparison"

    kind = models.CharField(max_length=10, choices=Kind.choices)
    ruleset = models.CharField(max_length=40)
    switches = models.JSONField(help_text="All switches, resolved for the seats.")
    seats = models.PositiveSmallIntegerField()
    limits = models.JSONField(
        help_text="Clock and resource limits, as in the hello message to a bot."
    )
    # The decks are derived from the seed, so it is public only after the last game.
    seed = models.CharField(
        max_length=32,
        blank=True,
        help_text="128 bits, in hex. Secret. Empty until the match has its decks.",
    )
    # The first match of a shared deal names itself, so that equal values mean one deal.
    deal_of = models.ForeignKey(
        "self",
        models.PROTECT,
        null=True,
        blank=True,
        db_index=False,
        related_name="+",
        help_text="The match whose deal it plays, if several matches share one.",
    )
    # The inputs of the seed (`dealing`). Null if the seed is random. `plan_hash`
    # identifies the leaf that asked for the deal; `own_plan` identifies the plan of
    # this match if that is another leaf.
    batch = models.ForeignKey(
        DeckBatch, models.PROTECT, null=True, blank=True, db_index=False
    )
    plan_hash = models.BinaryField(null=True)
    own_plan = models.BinaryField(null=True)
    deal_size = models.PositiveBigIntegerField(null=True, blank=True)
    deal_root = models.BinaryField(null=True)
    deal_entropy = models.BinaryField(null=True)
    # Stored apart from the games, so that the tally notices a lost row.
    planned = models.PositiveSmallIntegerField(default=1, help_text="Games created.")
    # A package above this one sets and lifts the embargo. `visibility` obeys it.
    embargo = models.BooleanField(
        default=False, help_text="The match and its games are hidden from everybody."
    )
    # Copies, like the terms above. Therefore the slug of a ladder must not change.
    ladder = models.SlugField(
        max_length=40,
        blank=True,
        db_index=False,
        help_text="The ladder that rates it, or empty.",
    )
    why = models.JSONField(
        null=True, blank=True, help_text="Why the matchmaker made it."
    )
    # A new trace, or that of an upload whose first match it is.
    traceparent = models.CharField(
        max_length=MAX_TRACEPARENT_CHARS,
        blank=True,
        help_text="The trace of the match, if it has one.",
    )
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        verbose_name_plural = "matches"
        constraints = [
            models.CheckConstraint(
                condition=Q(
                    kind__in=["ladder", "challenge", "tournament", "comparison"]
                ),
                name="match_kind_is_known",
            ),
            models.CheckConstraint(
                condition=Q(seats__range=(2, MAX_SEATS)), name="match_has_2_to_4_seats"
            ),
        ]
        indexes = [
            models.Index(fields=["kind", "-id"], name="match_by_kind"),
            models.Index(fields=["ladder", "-id"], name="match_by_ladder"),
            models.Index(fields=["-created_at", "-id"], name="match_by_time"),
            # Lists of a rare ruleset or number of seats, which no ladder may play.
            models.Index(fields=["ruleset", "-id"], name="match_by_ruleset"),
            models.Index(fields=["seats", "-id"], name="match_by_seats"),
            # The tally adds up this column without reading the rows.
            models.Index(fields=["planned"], name="match_planned"),
            models.Index(
                fields=["-id"], condition=Q(embargo=True), name="match_under_embargo"
            ),
            models.Index(
                fields=["id"], condition=Q(seed=""), name="match_without_decks"
            ),
            models.Index(
                fields=["deal_of"],
                condition=Q(deal_of__isnull=False),
                name="match_of_shared_deal",
            ),
        ]

    def __str__(self) -> str:
        return f"match {self.pk}"


DEAD_NOTE = (
    "The service failed too often to play this game, so it has no result. The operator"
    " was informed."
)


class GameStatus(models.TextChoices):
    """The states of a game.

    scheduled -> running -> finished -> voided. A failed or released attempt leads from
    running back to scheduled, and the last failure to dead. A scheduled game may be
    cancelled. A dead game may be scheduled again by an operator.
    """

    SCHEDULED = "scheduled"
    RUNNING = "running"
    FINISHED = "finished"
    DEAD = "dead", "dead: too many attempts failed"
    CANCELLED = "cancelled"
    VOIDED = "voided", "voided: declared invalid after it finished"


OPEN = (GameStatus.SCHEDULED, GameStatus.RUNNING)


class Game(Leased):
    """One play of Torres, by one worker at a time.

    `fence` grows with every claim. A write with an older fence changes nothing. Lists
    should `.defer("replay")`, because replays are large.
    """

    Status = GameStatus

    match = models.ForeignKey(Match, models.PROTECT, related_name="games")
    index = models.PositiveSmallIntegerField(default=0, help_text="From 0.")
    status = models.CharField(
        max_length=10, choices=GameStatus.choices, default=GameStatus.SCHEDULED
    )
    queue = models.CharField(max_length=40, default="play")
    priority = models.SmallIntegerField(default=0, help_text="Higher is sooner.")
    needs = models.CharField(
        max_length=120, blank=True, help_text="Tags that a worker must offer."
    )
    budget = models.CharField(
        max_length=40,
        blank=True,
        help_text="Whose share of the slots it uses, see `shares`. Empty for ladders.",
    )
    # Tell the dispatcher which hints may have been lost, so that it sends them again.
    sent_at = models.DateTimeField(null=True, blank=True, help_text="The last hint.")
    sent_to = models.CharField(max_length=40, blank=True, help_text="Its queue.")
    # The worker of its open attempt, which the database checks.
    owner = models.ForeignKey(
        Worker,
        models.PROTECT,
        null=True,
        blank=True,
        db_constraint=False,
        db_index=False,
        related_name="games",
    )
    failures = models.PositiveSmallIntegerField(default=0, help_text="Failed attempts.")
    created_at = models.DateTimeField(db_default=Now())
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    replaces = models.ForeignKey(
        "self",
        models.PROTECT,
        null=True,
        blank=True,
        db_index=False,
        related_name="+",
    )
    reason = models.CharField(
        max_length=20, blank=True, help_text="Why it ended, an EndReason."
    )
    note = models.CharField(
        max_length=MAX_REASON_CHARS,
        blank=True,
        help_text="Why it was cancelled, dead or voided.",
    )
    engine = models.CharField(
        max_length=20, blank=True, help_text="Version of the engine."
    )
    replay = models.BinaryField(
        null=True, blank=True, help_text="Compressed JSON, see `replays`."
    )

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
                    & Q(reason__in=[reason.value for reason in EndReason])
                ),
                name="game_with_a_result_has_a_replay",
            ),
            models.UniqueConstraint(
                fields=["match", "index"],
                condition=~Q(status="voided"),
                name="one_valid_game_per_index",
            ),
            # Few games replace another one.
            models.UniqueConstraint(
                fields=["replaces"],
                condition=Q(replaces__isnull=False),
                name="one_replacement_per_game",
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
                fields=["owner"],
                condition=Q(owner__isnull=False),
                name="game_owned",
            ),
            models.Index(
                fields=["match"], condition=Q(status="voided"), name="game_voided"
            ),
            models.Index(
                fields=["-finished_at"],
                condition=Q(finished_at__isnull=False),
                name="game_finished",
            ),
            # The open games of a match or a season: few, among all that were played.
            models.Index(
                fields=["match"],
                condition=Q(status__in=["scheduled", "running"]),
                name="game_open",
            ),
            # Lists of one status, newest first, and the tally.
            models.Index(fields=["status", "-id"], name="game_by_status"),
        ]

    def __str__(self) -> str:
        return f"game {self.pk}"

    @property
    def public_note(self) -> str:
        """Return the note for everybody: that of a dead game is for operators."""
        return DEAD_NOTE if self.status == GameStatus.DEAD else self.note


class Seat(models.Model):
    """One submission at one game. Score and rank are null until the game has ended."""

    # The index of a constraint leads to the seats of a game. So it does for the other
    # keys below without an index of their own.
    game = models.ForeignKey(Game, models.CASCADE, db_index=False, related_name="seats")
    number = models.PositiveSmallIntegerField(help_text="From 0.")
    submission = models.ForeignKey(Submission, models.PROTECT, related_name="seats")
    # A copy of `submission.bot`, which never changes, so that the games of a bot can be
    # listed newest first by an index. `manage.py audit` compares the two. The database
    # checks the submission, which guards its bot, too.
    bot = models.ForeignKey(
        Bot,
        models.PROTECT,
        related_name="seats",
        db_constraint=False,
        db_index=False,
        editable=False,
    )
    score = models.PositiveSmallIntegerField(null=True, blank=True)
    rank = models.PositiveSmallIntegerField(null=True, blank=True, help_text="From 1.")
    # Follows from the ranks. A column, so that an index leads to the shared victories.
    tied = models.BooleanField(
        default=False, help_text="Another seat of the game has the same rank."
    )
    fault = models.CharField(
        max_length=20,
        choices=[(fault.value, fault.value) for fault in Fault],
        blank=True,
        help_text="Why the seat forfeited.",
    )
    blamed = models.BooleanField(
        default=False,
        help_text="Too many attempts failed in this seat, so it forfeits at the start.",
    )
    fault_detail = models.TextField(
        blank=True, help_text="One sentence for the owner of the bot only."
    )

    class Meta:
        ordering = ["game", "number"]
        indexes = [
            models.Index(
                fields=["submission"], condition=~Q(fault=""), name="seat_forfeited"
            ),
            models.Index(fields=["bot", "-game"], name="seat_of_bot"),
            models.Index(
                fields=["fault", "-game"],
                condition=~Q(fault=""),
                name="seat_by_fault",
            ),
            # Without the rank: its change at the finish would touch every index then.
            models.Index(
                fields=["bot", "-game"], condition=Q(tied=True), name="seat_tied"
            ),
        ]
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
                condition=Q(tied=False) | Q(rank__isnull=False),
                name="seat_without_rank_is_not_tied",
            ),
            models.CheckConstraint(
                condition=Q(fault__in=["", *(fault.value for fault in Fault)]),
                name="seat_fault_is_known",
            ),
        ]

    def __str__(self) -> str:
        return f"seat {self.number} of game {self.game_id}"


class Attempt(models.Model):
    """One try of one worker to play a game.

    A claim adds it. It is closed exactly once and never removed.
    """

    class Outcome(models.TextChoices):
        OPEN = "open"
        FINISHED = "finished"
        FAILED = "failed"
        # Returned by a worker that had to stop. Does not count as a failure.
        RELEASED = "released"

    game = models.ForeignKey(
        Game, models.CASCADE, db_index=False, related_name="attempts"
    )
    fence = models.PositiveIntegerField()
    # Null if the worker was deleted, long after its end (`retention`).
    worker = models.ForeignKey(
        Worker, models.SET_NULL, null=True, blank=True, related_name="attempts"
    )
    started_at = models.DateTimeField(db_default=Now())
    ended_at = models.DateTimeField(null=True, blank=True)
    outcome = models.CharField(
        max_length=10, choices=Outcome.choices, default=Outcome.OPEN
    )
    reason = models.CharField(max_length=MAX_REASON_CHARS, blank=True)
    seat = models.PositiveSmallIntegerField(
        null=True,
        blank=True,
        help_text="The seat that was being served when the attempt failed, if any.",
    )
    # A copy of the bot in that seat, so that an index leads to a bot's failures.
    bot = models.ForeignKey(
        Bot, models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )
    evidence = models.JSONField(
        null=True,
        blank=True,
        help_text="How that bot ended, see `torres.runner.verdict.BotEnding`.",
    )

    class Meta:
        ordering = ["game", "fence"]
        indexes = [
            models.Index(
                fields=["bot", "ended_at"],
                condition=Q(outcome="failed", bot__isnull=False),
                name="attempt_failed_of_bot",
            ),
            models.Index(
                fields=["ended_at"],
                condition=Q(outcome="failed"),
                name="attempt_failed",
            ),
        ]
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


class AnswerBatch(models.Model):
    """Some answers of the seats in a running game, so that people can watch the game.

    The answers of a finished attempt are in the replay. Those of a failed attempt stay
    here for TORRES_KEEP_ANSWERS_DAYS. Nothing depends on these rows, so PostgreSQL
    neither logs them nor checks their attempt: one row for each answer, logged and
    checked, was more than half of what a game wrote.
    """

    attempt = models.ForeignKey(
        Attempt,
        models.CASCADE,
        related_name="answers",
        db_constraint=False,
        db_index=False,
    )
    first = models.PositiveIntegerField(
        help_text="The index of the first answer, as in the moves of the replay."
    )
    end = models.PositiveIntegerField(help_text="The index after the last answer.")
    answers = models.JSONField(
        help_text="Lists: seat, actions, charged milliseconds, and true if the referee"
        " answered for a forfeited seat."
    )

    class Meta:
        ordering = ["attempt", "first"]
        constraints = [
            models.UniqueConstraint(
                fields=["attempt", "first"], name="one_batch_of_answers_per_index"
            )
        ]

    def __str__(self) -> str:
        return f"answers from {self.first} of attempt {self.attempt_id}"


class SeatLog(models.Model):
    """The output of one seat in one attempt, for the owner of the bot only.

    It is shortened (`seat_logs`), and deleted after TORRES_KEEP_LOGS_DAYS.
    """

    attempt = models.ForeignKey(
        Attempt, models.CASCADE, db_index=False, related_name="logs"
    )
    number = models.PositiveSmallIntegerField(help_text="The seat, from 0.")
    stderr = models.TextField(blank=True)
    notes = models.JSONField(default=list, help_text='[{"move": 12, "note": "..."}]')
    verdict = models.JSONField(
        default=dict, help_text="Why the seat forfeited: clock, CPU, memory, exit code."
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["attempt", "number"], name="one_log_per_seat_and_attempt"
            )
        ]

    def __str__(self) -> str:
        return f"log of seat {self.number}, attempt {self.attempt_id}"


class LogUse(models.Model):
    """The bytes of logs that the games of one bot have stored on one day (UTC)."""

    bot = models.ForeignKey(
        Bot, models.CASCADE, db_index=False, related_name="log_uses"
    )
    day = models.DateField()
    bytes = models.PositiveBigIntegerField(help_text="Before shortening.")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["bot", "day"], name="one_log_use_per_bot_and_day"
            )
        ]

    def __str__(self) -> str:
        return f"logs of {self.bot} on {self.day}"
