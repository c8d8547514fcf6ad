"""The JSON of tournaments in the REST API."""

from typing import Any

from rest_framework import serializers

from ladder.tournaments.models import Entrant, Tournament


class TournamentSerializer(serializers.ModelSerializer[Tournament]):
    """`revealed` is the last round whose results are shown if they are held back."""

    entrants = serializers.IntegerField(source="entered", read_only=True)
    seeding = serializers.CharField(
        source="seeding.slug", read_only=True, allow_null=True, default=None
    )

    class Meta:
        model = Tournament
        fields = [
            "slug",
            "name",
            "status",
            "ruleset",
            "switches",
            "limits",
            "config",
            "seeding",
            "must_check_in",
            "held_back",
            "revealed",
            "entrants",
            "opens_at",
            "closes_at",
            "starts_at",
            "started_at",
        ]
        read_only_fields = fields


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
    bot = serializers.SlugField(max_length=64)


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
