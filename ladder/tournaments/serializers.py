"""The JSON of tournaments in the REST API."""

from typing import Any

from rest_framework import serializers

from ladder.bots.serializers import TextField
from ladder.moderation.models import MAX_WHY_LENGTH
from ladder.tournaments.document import MAX_ENTRIES
from ladder.tournaments.models import Entrant, Tournament
from ladder.tournaments.organising import MAX_SEED, possible_steps
from torres.formats.config import ELIMINATIONS, Format, TieBreak


class TournamentSerializer(serializers.ModelSerializer[Tournament]):
    """`revealed` is the last round whose results are shown if they are held back."""

    entrants = serializers.IntegerField(source="entered", read_only=True)
    seeding = serializers.CharField(
        source="seeding.slug", read_only=True, allow_null=True, default=None
    )
    organiser = serializers.CharField(
        source="organiser.username", read_only=True, allow_null=True, default=None
    )

    class Meta:
        model = Tournament
        fields = [
            "id",
            "slug",
            "name",
            "status",
            "ruleset",
            "switches",
            "limits",
            "config",
            "seeding",
            "must_check_in",
            "entries_per_owner",
            "held_back",
            "revealed",
            "entrants",
            "opens_at",
            "closes_at",
            "starts_at",
            "started_at",
            "finished_at",
            "paused_at",
            "archived_at",
            "note",
            "organiser",
        ]
        read_only_fields = fields


class ManagedTournamentSerializer(TournamentSerializer):
    """A tournament for its organiser: `steps` are those that are possible now."""

    steps = serializers.SerializerMethodField()

    class Meta(TournamentSerializer.Meta):
        fields = [*TournamentSerializer.Meta.fields, "steps"]
        read_only_fields = fields

    def get_steps(self, tournament: Tournament) -> list[str]:
        return [str(step) for step in possible_steps(tournament)]


class DescriptionSerializer(serializers.Serializer[Any]):
    """The keys of a tournament. `ladder.tournaments.document` reads and checks them.

    They are those of the file of `torres tournament`, without its folders of bots.
    """

    name = serializers.CharField(max_length=80, required=False)
    slug = serializers.RegexField(
        r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=40, required=False
    )
    format = serializers.ChoiceField(choices=list(Format), required=False)
    seats = serializers.IntegerField(min_value=2, max_value=4, required=False)
    duplicate = serializers.BooleanField(required=False)
    shared_deals = serializers.BooleanField(required=False)
    rounds = serializers.IntegerField(min_value=0, max_value=1000, required=False)
    best_of = serializers.IntegerField(min_value=1, max_value=99, required=False)
    best_of_final = serializers.IntegerField(min_value=1, max_value=99, required=False)
    reset = serializers.BooleanField(required=False)
    groups = serializers.IntegerField(min_value=1, max_value=256, required=False)
    advance = serializers.IntegerField(min_value=1, max_value=64, required=False)
    final = serializers.ChoiceField(
        choices=[str(form) for form in ELIMINATIONS], required=False
    )
    points = serializers.ListField(child=serializers.FloatField(), required=False)
    tie_breaks = serializers.ListField(
        child=serializers.ChoiceField(choices=list(TieBreak)), required=False
    )
    ruleset = serializers.CharField(required=False)
    switches = serializers.DictField(required=False)
    limits = serializers.DictField(child=serializers.IntegerField(), required=False)
    seeding = serializers.CharField(allow_null=True, required=False)
    must_check_in = serializers.BooleanField(required=False)
    entries_per_owner = serializers.IntegerField(
        min_value=1,
        max_value=MAX_ENTRIES,
        allow_null=True,
        required=False,
        help_text="Bots that one owner may enter; null for no limit.",
    )
    held_back = serializers.BooleanField(required=False)
    opens_at = serializers.DateTimeField(allow_null=True, required=False)
    closes_at = serializers.DateTimeField(allow_null=True, required=False)
    starts_at = serializers.DateTimeField(allow_null=True, required=False)
    entrants = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        help_text="Bots by their slugs, the best seed first. For a new one only.",
    )


class PreviewSerializer(serializers.Serializer[Any]):
    """The size of a tournament. `least` and `most` differ in eliminations."""

    format = serializers.CharField()
    entrants = serializers.IntegerField()
    max_entrants = serializers.IntegerField()
    least_rounds = serializers.IntegerField()
    most_rounds = serializers.IntegerField()
    least_matches = serializers.IntegerField()
    most_matches = serializers.IntegerField()
    least_games = serializers.IntegerField()
    most_games = serializers.IntegerField()
    game_s = serializers.FloatField()
    slots = serializers.IntegerField()
    least_s = serializers.FloatField()
    most_s = serializers.FloatField()
    notes = serializers.ListField(child=serializers.CharField())


class ReasonSerializer(serializers.Serializer[Any]):
    why = TextField(max_length=MAX_WHY_LENGTH, required=False, allow_blank=True)


class RequiredReasonSerializer(serializers.Serializer[Any]):
    why = TextField(
        max_length=MAX_WHY_LENGTH, help_text="The reason, for the audit log."
    )


class ReplacementSerializer(serializers.Serializer[Any]):
    by = serializers.SlugField(max_length=64, help_text="The bot that plays instead.")


class SeedsSerializer(serializers.Serializer[Any]):
    seeds = serializers.DictField(
        child=serializers.IntegerField(
            allow_null=True, min_value=1, max_value=MAX_SEED
        ),
        help_text='Seeds by bot, for example {"ana": 1, "ben": 2}; null removes one.',
    )


class EntrantSerializer(serializers.ModelSerializer[Entrant]):
    """`submission` is the one that plays, null before the start."""

    bot = serializers.CharField(source="bot.slug")
    name = serializers.CharField(source="bot.name")
    submission = serializers.IntegerField(source="submission_id", allow_null=True)

    class Meta:
        model = Entrant
        fields = [
            "bot",
            "name",
            "submission",
            "seed",
            "entered_at",
            "checked_in_at",
            "withdrawn_at",
            "note",
        ]
        read_only_fields = fields


class NewEntrantSerializer(serializers.Serializer[Any]):
    """Only organisers give a `seed`."""

    bot = serializers.SlugField(max_length=64)
    seed = serializers.IntegerField(
        required=False, allow_null=True, min_value=1, max_value=MAX_SEED
    )


class FixtureSeatSerializer(serializers.Serializer[Any]):
    """`points` is an exact fraction such as "1/2", null until the result is known."""

    bot = serializers.CharField()
    name = serializers.CharField()
    points = serializers.CharField(allow_null=True)
    score = serializers.IntegerField(allow_null=True)


class FixtureSerializer(serializers.Serializer[Any]):
    """`how` is null until the result is known."""

    round = serializers.IntegerField()
    pool = serializers.CharField()
    table = serializers.IntegerField()
    leg = serializers.IntegerField()
    match = serializers.IntegerField(allow_null=True)
    how = serializers.CharField(allow_null=True)
    entrants = FixtureSeatSerializer(many=True)


class RoundSerializer(serializers.Serializer[Any]):
    """`known` is true if the results of the round are shown."""

    round = serializers.IntegerField()
    known = serializers.BooleanField()
    fixtures = FixtureSerializer(many=True)


class LineSerializer(serializers.Serializer[Any]):
    """`note` says what the numbers do not, for example "still in"."""

    rank = serializers.IntegerField()
    id = serializers.IntegerField(help_text="The number of the bot.")
    bot = serializers.CharField()
    name = serializers.CharField()
    seed = serializers.IntegerField(allow_null=True)
    points = serializers.FloatField()
    played = serializers.IntegerField()
    tie_breaks = serializers.DictField(child=serializers.FloatField())
    withdrawn = serializers.BooleanField()
    note = serializers.CharField(allow_blank=True)


class ComparisonSerializer(serializers.Serializer[Any]):
    """`why` compares two bots rule by rule, up to the rule that separates them."""

    first = serializers.CharField()
    second = serializers.CharField()
    why = serializers.ListField(child=serializers.CharField())


class StandingsSerializer(serializers.Serializer[Any]):
    """`ties` explains the order of neighbours with equal points."""

    standings = LineSerializer(many=True)
    ties = ComparisonSerializer(many=True)


class ContestSerializer(serializers.Serializer[Any]):
    """A slot is a bot, or null. `wins` are the points of both from its matches."""

    round = serializers.IntegerField()
    pool = serializers.CharField()
    table = serializers.IntegerField()
    slots = serializers.ListField(child=serializers.CharField(allow_null=True))
    winner = serializers.CharField(allow_null=True)
    wins = serializers.ListField(child=serializers.FloatField())
    why = serializers.CharField(allow_blank=True)
