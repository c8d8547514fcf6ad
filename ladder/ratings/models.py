"""Ladders, their seasons, and the ledger from which all ratings can be computed again.

`Entry` is the source of truth and never changes. `Rating` is the result of folding the
entries, and `Checkpoint` lets a fold start in the middle. Both can be deleted and built
again from the entries (`manage.py rebuild_ratings`).
"""

from typing import TypeVar

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import F, Q, Value
from django.db.models.functions import Now

from ladder.bots.models import Bot, Submission
from ladder.games.models import Game, Match
from ladder.moderation.models import MAX_WHY_LENGTH
from torres.common.documents import naming_problems
from torres.rating.description import (
    BadLadder,
    LadderDescription,
    ladder_problems,
    read_tables,
)
from torres.rating.ledger import EntryKind
from torres.rating.trueskill import SHOWN_RATING_SIGMAS

M = TypeVar("M", bound=models.Model)

KINDS_WITH_GAME = [EntryKind.GAME.value, EntryKind.VOID.value]


class Ladder(models.Model):
    """A rated competition."""

    class Admission(models.TextChoices):
        OPEN = "open", "open: owners let their bots join"
        OPERATORS = "operators", "operators admit bots"

    slug = models.SlugField(max_length=40, unique=True)
    name = models.CharField(max_length=80)
    ruleset = models.CharField(max_length=40)
    switches = models.JSONField(
        default=dict, blank=True, help_text="Differences from the ruleset."
    )
    tables = models.JSONField(
        help_text='Share of matches by seats: {"2": 0.4, "3": 0.2, "4": 0.4}.'
    )
    limits = models.JSONField(
        help_text="The limits and the clock, as in the hello message of the protocol."
    )
    # TrueSkill's parameters for the next season. A season that has started keeps the
    # parameters in its ledger, whatever is changed here.
    mu = models.FloatField(default=25.0)
    sigma = models.FloatField(default=25.0 / 3)
    beta = models.FloatField(default=25.0 / 6)
    tau = models.FloatField(default=0.008)
    duplicate = models.BooleanField(
        default=False,
        help_text="Each match has a game for each rotation of the seats, on one seed."
        " It saves 0 to 10 % of the games, but bots meet fewer others.",
    )
    shared_deals = models.BooleanField(
        default=False,
        help_text="Matches of one size that are made at once have the same decks.",
    )
    default = models.BooleanField(
        default=False, help_text="Bots join it with their first ready submission."
    )
    admission = models.CharField(
        max_length=10,
        choices=Admission.choices,
        default=Admission.OPEN,
        help_text="Who lets a bot join.",
    )
    opens_at = models.DateTimeField(null=True, blank=True)
    closes_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["default"], condition=Q(default=True), name="one_default_ladder"
            ),
            models.CheckConstraint(
                condition=Q(sigma__gt=0, beta__gt=0, tau__gte=0),
                name="ladder_parameters_make_sense",
            ),
            models.CheckConstraint(
                condition=Q(default=False) | Q(admission="open"),
                name="default_ladder_is_open",
                violation_error_message="Every bot joins the default ladder, so its"
                " admission must be open.",
            ),
        ]

    def __str__(self) -> str:
        return self.slug

    def description(self) -> LadderDescription:
        """Return the fields that decide whether the ladder can be played."""
        return LadderDescription(
            self.ruleset,
            self.switches,
            self.tables,
            self.limits,
            self.opens_at,
            self.closes_at,
        )

    @property
    def table_sizes(self) -> list[str]:
        """The permitted numbers of seats as texts; none if ``tables`` is wrong."""
        try:
            return sorted(read_tables(self.tables))
        except BadLadder:
            return []

    def clean(self) -> None:
        """Raise ValidationError if the ladder cannot be played. Forms call this."""
        is_new = self._state.adding
        found = naming_problems(self.name, self.slug, is_new=is_new)
        if found := found + ladder_problems(self.description()):
            raise ValidationError(found)


class Membership(models.Model):
    """A bot's place on a ladder. Only `memberships.py` writes it.

    Only bots with status `active` are paired. The rating is kept in every status.
    `benched_submission` is the upload whose forfeits led to the bench; the bench ends
    when another upload plays.
    """

    class Status(models.TextChoices):
        ACTIVE = "active", "plays"
        BENCHED = "benched", "benched: too many forfeits"
        LEFT = "left", "left"
        REMOVED = "removed", "removed by an operator"

    ladder = models.ForeignKey(Ladder, models.PROTECT, related_name="memberships")
    bot = models.ForeignKey(Bot, models.CASCADE, related_name="memberships")
    status = models.CharField(
        max_length=10, choices=Status.choices, default=Status.ACTIVE
    )
    why = models.CharField(
        max_length=MAX_WHY_LENGTH, blank=True, help_text="Why the bot is benched."
    )
    benched_submission = models.ForeignKey(
        Submission, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    joined_at = models.DateTimeField(db_default=Now())
    changed_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["ladder", "bot"], name="one_membership_per_bot_and_ladder"
            )
        ]
        indexes = [
            models.Index(fields=["ladder", "changed_at"], name="membership_changed")
        ]

    def __str__(self) -> str:
        return f"{self.bot_id} on {self.ladder_id}: {self.status}"


class Season(models.Model):
    """One run of a ladder with its own ratings and its own ledger.

    `head` is the number of the last entry. Moving it is what makes two writers of one
    ledger safe. `outcome` is the order of the prize ranks at the end; during finals it
    holds the games that each bot had played before.
    """

    class Status(models.TextChoices):
        OPEN = "open"
        FROZEN = "frozen", "frozen: no new matches"
        FINALS = "finals"
        ARCHIVED = "archived"

    ladder = models.ForeignKey(Ladder, models.PROTECT, related_name="seasons")
    number = models.PositiveIntegerField(help_text="From 1.")
    status = models.CharField(
        max_length=10, choices=Status.choices, default=Status.OPEN
    )
    head = models.PositiveBigIntegerField(default=0)
    # Raters compare it, like the head: a rebuild moves no head.
    rebuilds = models.PositiveIntegerField(
        default=0, editable=False, help_text="How often its ratings were built again."
    )
    prizes = models.PositiveSmallIntegerField(
        default=3, help_text="Finals settle the order of this many first ranks."
    )
    outcome = models.JSONField(
        default=dict, blank=True, editable=False, help_text="The result of the finals."
    )
    copies = models.JSONField(
        default=list,
        editable=False,
        help_text="Pairs of bots with similar code, from the latest report of copies.",
    )
    # TrueSkill's parameters in force, a copy from the ledger. Only the ledger's writer
    # sets them.
    parameters = models.JSONField(default=dict, editable=False)
    started_at = models.DateTimeField(db_default=Now())
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["ladder", "number"], name="one_season_per_number"
            ),
            models.UniqueConstraint(
                fields=["ladder"],
                condition=~Q(status="archived"),
                name="one_season_at_a_time",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.ladder.slug} season {self.number}"


class Rating(models.Model):
    """The present rating of one bot in one season: a projection of the ledger.

    Only the ledger's writer and `rebuild_ratings` write here. `rating`, the number that
    is shown, is a generated column.
    """

    # The indexes of the class lead to the ratings of a season and of a bot.
    season = models.ForeignKey(
        Season, models.CASCADE, related_name="ratings", db_index=False
    )
    bot = models.ForeignKey(Bot, models.PROTECT, related_name="ratings", db_index=False)
    submission = models.ForeignKey(
        Submission,
        models.PROTECT,
        related_name="+",
        help_text="The submission that plays for the bot.",
    )
    digest = models.CharField(max_length=64, help_text="The submission's digest.")
    mu = models.FloatField()
    sigma = models.FloatField()
    games = models.PositiveIntegerField(default=0)
    fresh = models.PositiveIntegerField(
        default=0, help_text="Games since the bot's code changed last."
    )
    forfeits = models.PositiveIntegerField(default=0)
    latest = models.PositiveSmallIntegerField(
        default=0, help_text="Forfeits in the latest games, a bit each (core.ledger)."
    )
    seq = models.PositiveBigIntegerField(help_text="The last entry that changed it.")
    rating = models.GeneratedField(
        expression=F("mu") - Value(float(SHOWN_RATING_SIGMAS)) * F("sigma"),
        output_field=models.FloatField(),
        db_persist=True,
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["bot", "season"], name="one_rating_per_bot_and_season"
            ),
            models.CheckConstraint(
                condition=Q(sigma__gt=0), name="rating_sigma_is_positive"
            ),
        ]
        indexes = [
            models.Index(fields=["season", "-rating", "bot"], name="leaderboard"),
            models.Index(fields=["season", "seq"], name="rating_moved"),
        ]

    def __str__(self) -> str:
        return f"{self.bot_id}: {self.mu:.2f} ± {self.sigma:.2f}"


class Entry(models.Model):
    """One event that can change ratings. Append-only; `seq` is dense from 1.

    `inputs` is all that the fold needs. `changes` is the effect, with exact floats, as
    a list of `core.ledger.RatingChange`:
    `[{"bot": 7, "before": [25.0, 8.3], "after": [27.1, 7.9]}, ...]`.
    """

    # The indexes of the class lead to the entries of a season, a game and a bot.
    season = models.ForeignKey(
        Season, models.PROTECT, related_name="entries", db_index=False
    )
    seq = models.PositiveBigIntegerField()
    kind = models.CharField(
        max_length=12,
        choices=[(kind.value, kind.replace("_", " ").title()) for kind in EntryKind],
    )
    game = models.ForeignKey(
        Game,
        models.PROTECT,
        null=True,
        blank=True,
        db_index=False,
        related_name="entries",
    )
    bot = models.ForeignKey(
        Bot,
        models.PROTECT,
        null=True,
        blank=True,
        db_index=False,
        related_name="entries",
    )
    inputs = models.JSONField(default=dict)
    changes = models.JSONField(default=list)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["season", "seq"]
        verbose_name_plural = "entries"
        indexes = [
            # Joins, voids and the like: few, among the games.
            models.Index(
                fields=["-season", "-seq"],
                condition=~Q(kind=EntryKind.GAME.value),
                name="entry_of_other_kinds",
            ),
            models.Index(
                fields=["bot"], condition=Q(bot__isnull=False), name="entry_of_bot"
            ),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["season", "seq"], name="one_entry_per_number"
            ),
            models.UniqueConstraint(
                fields=["game"],
                condition=Q(kind=EntryKind.GAME.value),
                name="a_game_is_rated_at_most_once",
            ),
            models.UniqueConstraint(
                fields=["game"],
                condition=Q(kind=EntryKind.VOID.value),
                name="a_game_is_voided_at_most_once",
            ),
            models.CheckConstraint(
                condition=Q(kind__in=KINDS_WITH_GAME, game__isnull=False)
                | (~Q(kind__in=KINDS_WITH_GAME) & Q(game__isnull=True)),
                name="entry_has_a_game_exactly_where_due",
            ),
            models.CheckConstraint(
                condition=Q(seq__gte=1), name="entries_count_from_1"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.seq}"


class Checkpoint(models.Model):
    """All ratings after entry `seq`, without some voided games: a fold can start here.

    `state` is the JSON document of `core.ledger.LedgerState.dump`. `left_out` counts
    the games of entries up to `seq` that the state leaves out. The checkpoint is valid
    while that is the number of voided games among them (a void is final, so the games
    must be the same), and while no rebuild has happened since `rebuilds`.
    """

    season = models.ForeignKey(Season, models.CASCADE, related_name="checkpoints")
    seq = models.PositiveBigIntegerField()
    left_out = models.PositiveIntegerField(default=0, help_text="Voided games.")
    rebuilds = models.PositiveIntegerField(default=0, help_text="As in its season.")
    state = models.JSONField()
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["season", "seq"], name="one_checkpoint_per_entry"
            )
        ]

    def __str__(self) -> str:
        return f"checkpoint {self.seq} of season {self.season_id}"


class Pairing(models.Model):
    """A match that a season rates; `open` until all its games are folded."""

    season = models.ForeignKey(Season, models.PROTECT, related_name="pairings")
    match = models.OneToOneField(Match, models.PROTECT, related_name="pairing")
    open = models.BooleanField(default=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        indexes = [
            models.Index(fields=["season"], condition=Q(open=True), name="pairing_open")
        ]

    def __str__(self) -> str:
        return f"pairing of match {self.match_id}"


class Challenge(models.Model):
    """A user's request for an unrated match. The quota counts these rows."""

    match = models.OneToOneField(Match, models.PROTECT, related_name="challenge")
    ladder = models.ForeignKey(Ladder, models.PROTECT, related_name="challenges")
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="challenges"
    )
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        indexes = [models.Index(fields=["by", "created_at"], name="challenges_of")]

    def __str__(self) -> str:
        return f"challenge of match {self.match_id}"


def _key_of_copy(model: type[M], related_name: str) -> "models.ForeignKey[M, M]":
    """Return a key of a summary, which the database neither checks nor indexes.

    The constraints of the ledger and of its games check the same seasons and bots: the
    checks were 6 statements of a game, and 36 of a game of four bots that meet for the
    first time. An index of the primary key leads to the rows.
    """
    return models.ForeignKey(
        model,
        models.CASCADE,
        related_name=related_name,
        db_constraint=False,
        db_index=False,
    )


class RatingPoint(models.Model):
    """A bot's rating after one entry of the ledger that concerns it.

    This and the other summaries below are computed from the ledger alone, by
    `summaries.py`, so that pages need not read all games of a bot. They can be deleted
    and built again.
    """

    pk = models.CompositePrimaryKey("season_id", "bot_id", "seq")
    season = _key_of_copy(Season, "points")
    bot = _key_of_copy(Bot, "points")
    seq = models.PositiveBigIntegerField()
    kind = models.CharField(max_length=12, help_text="The kind of the entry.")
    game = models.PositiveBigIntegerField(null=True, help_text="The id of the game.")
    mu = models.FloatField()
    sigma = models.FloatField()

    def __str__(self) -> str:
        return f"bot {self.bot_id} after entry {self.seq}"


class SeatSummary(models.Model):
    """A bot's rated games in one seat of games with this number of players.

    `halves` counts the opponents that finished behind the bot twice, and those with the
    same rank once.
    """

    pk = models.CompositePrimaryKey("season_id", "bot_id", "players", "seat")
    season = _key_of_copy(Season, "seat_summaries")
    bot = _key_of_copy(Bot, "seat_summaries")
    players = models.PositiveSmallIntegerField()
    seat = models.PositiveSmallIntegerField()
    # Signed, because a difference is added by an insert. No count is negative.
    games = models.IntegerField()
    wins = models.IntegerField()
    halves = models.IntegerField()

    def __str__(self) -> str:
        return f"bot {self.bot_id} in seat {self.seat} of {self.players}"


class MeetingSummary(models.Model):
    """The rated games of two bots together, as seen from `bot`.

    No index has the number of games: each game would write an entry for each two of its
    bots. So a page sorts the opponents of a bot: 12 ms for ten thousand.
    """

    pk = models.CompositePrimaryKey("season_id", "bot_id", "other_id")
    season = _key_of_copy(Season, "meeting_summaries")
    bot = _key_of_copy(Bot, "+")
    other = _key_of_copy(Bot, "+")
    games = models.IntegerField()
    before = models.IntegerField(help_text="In these `bot` finished ahead.")
    ties = models.IntegerField()

    def __str__(self) -> str:
        return f"bot {self.bot_id} against bot {self.other_id}"


class SkillSnapshot(models.Model):
    """The skills of all bots of a season after entry `seq`, for past leaderboards.

    `skills` has the bytes that `skill_snapshots.pack` makes.
    """

    pk = models.CompositePrimaryKey("season_id", "seq")
    season = models.ForeignKey(
        Season, models.CASCADE, related_name="skill_snapshots", db_index=False
    )
    seq = models.PositiveBigIntegerField()
    skills = models.BinaryField()

    def __str__(self) -> str:
        return f"skills of season {self.season_id} after entry {self.seq}"


class SummaryCursor(models.Model):
    """The last entry of the ledger that the summaries of a season contain."""

    season = models.OneToOneField(
        Season, models.CASCADE, primary_key=True, related_name="summary_cursor"
    )
    seq = models.PositiveBigIntegerField(default=0)

    def __str__(self) -> str:
        return f"summaries of season {self.season_id} up to entry {self.seq}"


class SecondOpinion(models.Model):
    """An estimate of all strengths from the games of entries up to `seq`.

    `season_estimate.py` writes it, whole, and never changes it. The newest one is on
    the leaderboard. Of the older ones those are kept between which the ledger grew by 5
    %: the history of the estimate. `anchors` names the house bots that are its zero
    point.

    Without a season it is the estimate from the present seasons of all ladders, and
    `seq` counts the entries of all of them.
    """

    season = models.ForeignKey(
        Season,
        models.CASCADE,
        null=True,
        blank=True,
        related_name="second_opinions",
        db_index=False,
    )
    seq = models.PositiveBigIntegerField()
    games = models.PositiveIntegerField()
    submissions = models.PositiveIntegerField(
        help_text="The submissions that played these games."
    )
    anchors = models.JSONField(default=list)
    seconds = models.FloatField(default=0.0, help_text="Processor time that it took.")
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["season", "seq"], name="one_second_opinion_per_entry"
            )
        ]

    def __str__(self) -> str:
        where = f"season {self.season_id}" if self.season_id else "all ladders"
        return f"second opinion on {where} after entry {self.seq}"


class SecondOpinionRow(models.Model):
    """One bot in a second opinion: its strength, and the ranks that are possible.

    `value` is in points above the mean of the anchors. `best` and `worst` are the ends
    of its rank set. `top` is the probability that it is one of the best three, and
    `duel` that it wins a duel with a random one of the others.
    """

    pk = models.CompositePrimaryKey("opinion_id", "bot_id")
    opinion = models.ForeignKey(
        SecondOpinion, models.CASCADE, related_name="rows", db_index=False
    )
    bot = models.ForeignKey(Bot, models.CASCADE, related_name="+", db_index=False)
    submission = models.PositiveIntegerField(help_text="The number of the upload.")
    games = models.PositiveIntegerField(help_text="Games of this submission.")
    rank = models.PositiveIntegerField()
    value = models.FloatField()
    error = models.FloatField(help_text="The standard error of the value.")
    best = models.PositiveIntegerField()
    worst = models.PositiveIntegerField()
    top = models.FloatField()
    duel = models.FloatField(default=0.5)
    weighted = models.FloatField(
        default=0.0, help_text="The value in the fit in which copies share one vote."
    )
    weighted_rank = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["opinion", "rank"], name="one_bot_per_rank_of_an_opinion"
            )
        ]

    def __str__(self) -> str:
        return f"bot {self.bot_id} in second opinion {self.opinion_id}"
