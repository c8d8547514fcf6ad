"""The rows of a tournament: its description, entrants, fixtures and results.

The rows are the whole state of a tournament: `formats.plan` computes from them which
fixtures come next. A fixture refers to the match in which it is played; a match does
not know tournaments.
"""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from ladder.bots.models import Bot, Submission
from ladder.games.models import Match
from ladder.ratings.models import Ladder
from ladder.tournaments.description import (
    TournamentDescription,
)
from torres.formats.values import ResultKind
from torres.runner.protocol import Limits

MAX_NOTE_LENGTH = 300
DEFAULT_ENTRIES = 3
RESERVED_SLUGS = frozenset({"new", "preview"})
"""Slugs that are addresses of other pages."""


class TournamentStatus(models.TextChoices):
    """The states of a tournament.

    draft -> entry -> check_in -> running -> finished. Entry may also lead to running
    directly. Every state but finished may lead to cancelled. The steps up to running
    happen at a scheduled time, or earlier by an operator's action.
    """

    DRAFT = "draft", "draft: not announced"
    ENTRY = "entry", "entry is open"
    CHECK_IN = "check_in", "entry is closed: entrants check in"
    RUNNING = "running"
    FINISHED = "finished"
    CANCELLED = "cancelled"


BEFORE_THE_START = (
    TournamentStatus.DRAFT,
    TournamentStatus.ENTRY,
    TournamentStatus.CHECK_IN,
)
"""The states in which a tournament may still be edited."""


def default_limits() -> dict[str, int]:
    return Limits().as_dict()


def default_config() -> dict[str, str]:
    return {"format": "swiss"}


class Tournament(models.Model):
    """One tournament: its schedule, its format, and the terms of its matches."""

    Status = TournamentStatus

    slug = models.SlugField(max_length=40, unique=True)
    name = models.CharField(max_length=80)
    status = models.CharField(
        max_length=10, choices=TournamentStatus.choices, default=TournamentStatus.DRAFT
    )
    ruleset = models.CharField(max_length=40, default="yucata")
    switches = models.JSONField(
        default=dict, blank=True, help_text="Differences from the ruleset."
    )
    limits = models.JSONField(
        default=default_limits,
        help_text="The limits of each bot as in its hello message, clock included.",
    )
    config = models.JSONField(
        default=default_config,
        help_text="The format; docs/tournaments.md explains the keys.",
    )
    seeding = models.ForeignKey(
        Ladder,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="tournaments",
        help_text="Entrants without a manual seed are seeded by their rating here.",
    )
    # Null if the account was deleted: then only operators manage the tournament.
    organiser = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="tournaments",
        help_text="The organiser who manages it. Operators manage every tournament.",
    )
    must_check_in = models.BooleanField(default=False)
    entries_per_owner = models.PositiveSmallIntegerField(
        default=DEFAULT_ENTRIES,
        null=True,
        blank=True,
        help_text="Bots that one owner may enter. Empty for no limit.",
    )
    opens_at = models.DateTimeField(null=True, blank=True)
    closes_at = models.DateTimeField(null=True, blank=True)
    starts_at = models.DateTimeField(null=True, blank=True)
    held_back = models.BooleanField(
        default=False, help_text="Results are shown only after they are revealed."
    )
    revealed = models.PositiveIntegerField(
        default=0, help_text="The last round whose results are shown."
    )
    created_at = models.DateTimeField(db_default=Now())
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    paused_at = models.DateTimeField(
        null=True, blank=True, help_text="While it is set, no new match is scheduled."
    )
    archived_at = models.DateTimeField(
        null=True, blank=True, help_text="Lists leave an archived tournament out."
    )
    note = models.CharField(
        max_length=MAX_NOTE_LENGTH, blank=True, help_text="Why it was cancelled."
    )

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(status__in=TournamentStatus.values),
                name="tournament_status_is_known",
            ),
            models.CheckConstraint(
                condition=~Q(status__in=["running", "finished"])
                | Q(started_at__isnull=False),
                name="tournament_that_runs_has_started",
            ),
        ]

    def __str__(self) -> str:
        return self.slug

    def description(self) -> TournamentDescription:
        """Return the fields that decide whether the tournament can be played."""
        return TournamentDescription(
            self.ruleset,
            self.switches,
            self.limits,
            self.config,
            self.opens_at,
            self.closes_at,
            self.starts_at,
        )


class Entrant(models.Model):
    """A bot in a tournament."""

    tournament = models.ForeignKey(Tournament, models.CASCADE, related_name="entrants")
    bot = models.ForeignKey(Bot, models.PROTECT, related_name="entries_to_tournaments")
    # Null before the start. The start pins one submission, so that later uploads do
    # not change what plays in this tournament.
    submission = models.ForeignKey(
        Submission, models.PROTECT, null=True, blank=True, related_name="+"
    )
    seed = models.PositiveIntegerField(
        null=True,
        blank=True,
        help_text="1 is the best. Set by hand, or assigned at the start.",
    )
    entered_at = models.DateTimeField(db_default=Now())
    checked_in_at = models.DateTimeField(null=True, blank=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    final_seed = models.PositiveIntegerField(
        null=True,
        blank=True,
        help_text="Groups: the seed in the final, set when the group stage is over.",
    )
    note = models.CharField(max_length=200, blank=True)

    class Meta:
        ordering = ["tournament", "seed", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["tournament", "bot"], name="a_bot_enters_once"
            ),
            models.UniqueConstraint(
                fields=["tournament", "seed"], name="one_entrant_per_seed"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.bot_id} in {self.tournament_id}"


class Fixture(models.Model):
    """One scheduled pairing; `how` is empty while the fixture is open.

    Round, pool, table and leg identify it (see `FixtureKey`), so that writing the same
    plan twice adds nothing.
    """

    tournament = models.ForeignKey(Tournament, models.CASCADE, related_name="fixtures")
    round = models.PositiveIntegerField()
    pool = models.SmallIntegerField(default=0)
    table = models.PositiveIntegerField()
    leg = models.PositiveSmallIntegerField(default=0)
    # Null until the match is scheduled, and for byes and walkovers.
    match = models.OneToOneField(
        Match, models.PROTECT, null=True, blank=True, related_name="fixture"
    )
    how = models.CharField(
        max_length=10,
        choices=[(kind.value, kind.value) for kind in ResultKind],
        blank=True,
    )
    decided_at = models.DateTimeField(null=True, blank=True)
    retries = models.PositiveSmallIntegerField(
        default=0, help_text="How often the service played its dead games again."
    )

    class Meta:
        ordering = ["tournament", "round", "-pool", "table", "leg"]
        constraints = [
            models.UniqueConstraint(
                fields=["tournament", "round", "pool", "table", "leg"],
                name="one_fixture_per_place",
            ),
            models.CheckConstraint(
                condition=Q(how="", decided_at__isnull=True)
                | (
                    Q(how__in=[kind.value for kind in ResultKind])
                    & Q(decided_at__isnull=False)
                ),
                name="fixture_is_open_or_decided",
            ),
        ]
        indexes = [
            # No partial indexes: SQLite ignores them for statements with parameters.
            models.Index(
                fields=["tournament", "how", "match", "round", "table"],
                name="fixture_by_state",
            )
        ]

    def __str__(self) -> str:
        return f"round {self.round}, table {self.table} of {self.tournament_id}"


class FixtureSeat(models.Model):
    """One entrant of a fixture; `number` is its seat in the first game, from 0.

    `points` is an exact fraction such as 1/2. It is empty while the fixture is open.
    """

    fixture = models.ForeignKey(Fixture, models.CASCADE, related_name="seats")
    number = models.PositiveSmallIntegerField()
    entrant = models.ForeignKey(Entrant, models.PROTECT, related_name="fixture_seats")
    points = models.CharField(max_length=20, blank=True)
    score = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["fixture", "number"]
        constraints = [
            models.UniqueConstraint(
                fields=["fixture", "number"], name="one_chair_per_number"
            ),
            models.UniqueConstraint(
                fields=["fixture", "entrant"], name="an_entrant_sits_once"
            ),
        ]

    def __str__(self) -> str:
        return f"seat {self.number} of fixture {self.fixture_id}"
