"""Practice games: one person plays against bots, and nothing of it is rated.

The rows hold everything from which a game can go on after its host was killed: the
seed, and the moves so far. The view and the choices of a seat follow from them
(`position`).
"""

from collections.abc import Sequence

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from ladder.bots.models import Submission
from ladder.common.leases import Leased
from ladder.games.models import MAX_REASON_CHARS, MAX_SEATS


class PracticeStatus(models.TextChoices):
    """The states of a practice game.

    waiting -> running -> finished, abandoned or failed. A game that waits can be
    abandoned, too. No state leads back.
    """

    WAITING = "waiting", "waits for a free slot"
    RUNNING = "running"
    FINISHED = "finished"
    ABANDONED = "abandoned", "abandoned by the person"
    FAILED = "failed", "failed by a fault of the service"


GUEST_NAME = "Guest"
OPEN_PRACTICE = (PracticeStatus.WAITING, PracticeStatus.RUNNING)


def constraints_of_player(
    word: str, statuses: Sequence[str], open_statuses: Sequence[str], of_owner: str
) -> list[models.BaseConstraint]:
    """Return the constraints of games that a person plays here; `word` names them.

    A game belongs to an account (`owner`) or to a guest, and is open or has ended. A
    person has one open game at most; `of_owner` is the name of this constraint.
    """
    is_open = Q(status__in=open_statuses)
    return [
        models.CheckConstraint(
            condition=Q(status__in=statuses), name=f"{word}_status_is_known"
        ),
        models.CheckConstraint(
            condition=Q(status__in=open_statuses, ended_at__isnull=True)
            | (~is_open & Q(ended_at__isnull=False)),
            name=f"{word}_is_open_or_ended",
        ),
        models.CheckConstraint(
            condition=Q(owner__isnull=False, guest="")
            | (Q(owner__isnull=True) & ~Q(guest="")),
            name=f"{word}_is_of_owner_or_guest",
        ),
        models.UniqueConstraint(fields=["owner"], condition=is_open, name=of_owner),
        models.UniqueConstraint(
            fields=["guest"],
            condition=is_open & ~Q(guest=""),
            name=f"one_open_{word}_per_guest",
        ),
    ]


def indexes_of_player(word: str, open_statuses: Sequence[str]) -> list[models.Index]:
    """Return the indexes of such games: of a person, of a guest, and of the queue."""
    return [
        models.Index(fields=["owner", "-id"], name=f"{word}_of"),
        models.Index(
            fields=["guest", "-id"], condition=~Q(guest=""), name=f"{word}_of_guest"
        ),
        models.Index(
            fields=["id"], condition=Q(status__in=open_statuses), name=f"{word}_open"
        ),
    ]


class PracticeGame(Leased):
    """One unrated game of a person against bots. It holds its own copy of the terms.

    The person has an account (`owner`), or is a guest, whose browser holds the key
    `guest` in a signed cookie.

    `ply` is the number of actions at which the person is asked, or null while nobody
    asks. `answer` belongs to the question with the same number, `answer_ply`.
    """

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.CASCADE,
        related_name="practice_games",
        null=True,
        blank=True,
    )
    guest = models.CharField(
        max_length=32,
        blank=True,
        db_default="",
        help_text="The key of a guest, in hex. Secret.",
    )
    ruleset = models.CharField(max_length=40)
    switches = models.JSONField(help_text="All switches, resolved for the seats.")
    limits = models.JSONField(help_text="Clock and resource limits of the bots.")
    start = models.TextField(
        blank=True,
        db_default="",
        help_text="The text of the position at which it begins; empty: the set-up."
        " Secret.",  # it has the decks
    )
    seats = models.PositiveSmallIntegerField()
    person_seat = models.PositiveSmallIntegerField(help_text="Where the person sits.")
    # The decks are derived from it, so it is secret until the game has ended.
    seed = models.CharField(max_length=32, help_text="128 random bits, in hex. Secret.")
    status = models.CharField(
        max_length=10, choices=PracticeStatus.choices, default=PracticeStatus.WAITING
    )
    note = models.CharField(
        max_length=MAX_REASON_CHARS, blank=True, help_text="Why it ended early."
    )
    # The host that holds the lease, as in games.
    host = models.CharField(max_length=80, blank=True)
    ply = models.PositiveIntegerField(null=True, blank=True)
    deadline = models.DateTimeField(
        null=True, blank=True, help_text="Until when the person may answer."
    )
    bank_s = models.FloatField(help_text="Thinking time beyond that of each decision.")
    answer_ply = models.PositiveIntegerField(null=True, blank=True)
    answer = models.JSONField(null=True, blank=True, help_text="A list of actions.")
    forfeits = models.JSONField(default=list, help_text="As in a replay, by time.")
    result = models.JSONField(null=True, blank=True, help_text="As in a replay.")
    replay = models.BinaryField(null=True, help_text="Compressed, see games.replays.")
    story = models.JSONField(
        null=True, blank=True, help_text="The analysis of a finished game."
    )
    story_at = models.DateTimeField(
        null=True, blank=True, help_text="When a process began to compute it."
    )
    story_cpu_s = models.FloatField(
        db_default=0, help_text="Processor time of the computation."
    )
    created_at = models.DateTimeField(db_default=Now())
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(seats__range=(2, MAX_SEATS), person_seat__lt=F("seats")),
                name="practice_has_2_to_4_seats",
            ),
            *constraints_of_player(
                "practice",
                PracticeStatus.values,
                OPEN_PRACTICE,
                "one_open_practice_game_per_person",
            ),
        ]
        indexes = [
            *indexes_of_player("practice", OPEN_PRACTICE),
            models.Index(fields=["ended_at"], name="practice_ended"),
            models.Index(
                fields=["-story_at"],
                condition=Q(story_at__isnull=False),
                name="practice_story",
            ),
        ]

    def __str__(self) -> str:
        return f"practice game {self.pk}"

    @property
    def player_name(self) -> str:
        return self.owner.get_username() if self.owner else GUEST_NAME

    @property
    def is_open(self) -> bool:
        return self.status in OPEN_PRACTICE


class PracticeOpponent(models.Model):
    """A bot in a seat of a practice game, and what it left behind.

    Logs are stored only of the bots that the person owns.
    """

    game = models.ForeignKey(PracticeGame, models.CASCADE, related_name="opponents")
    number = models.PositiveSmallIntegerField(help_text="The seat, from 0.")
    # Null if the upload was deleted after the game.
    submission = models.ForeignKey(
        Submission, models.SET_NULL, null=True, related_name="+"
    )
    fault_detail = models.TextField(blank=True)
    stderr = models.TextField(blank=True)
    notes = models.JSONField(default=list)

    class Meta:
        ordering = ["game", "number"]
        constraints = [
            models.UniqueConstraint(
                fields=["game", "number"], name="one_practice_opponent_per_seat"
            )
        ]

    def __str__(self) -> str:
        return f"seat {self.number} of practice game {self.game_id}"


class PracticeMove(models.Model):
    """One answer of a seat in a game that runs. At the end the replay holds them all.

    `ms` is the charged thinking time, null for the prescribed answer of a forfeited
    seat. `note` is stored only for the bots that the person owns.
    """

    game = models.ForeignKey(
        PracticeGame, models.CASCADE, related_name="moves", db_index=False
    )
    index = models.PositiveIntegerField()
    seat = models.PositiveSmallIntegerField()
    actions = models.JSONField()
    ms = models.FloatField(null=True)
    note = models.TextField(blank=True)

    class Meta:
        ordering = ["game", "index"]
        constraints = [
            models.UniqueConstraint(
                fields=["game", "index"], name="one_practice_move_per_index"
            )
        ]

    def __str__(self) -> str:
        return f"move {self.index} of practice game {self.game_id}"
