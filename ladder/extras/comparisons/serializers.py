"""The JSON of comparisons in the REST API."""

from typing import Any

from rest_framework import serializers

from engine.rulesets import MAX_SEATS, MIN_SEATS
from ladder.extras.comparisons import services
from ladder.extras.comparisons.models import ComparisonStatus, VersionComparison
from torres.rating.version_test import VersionVerdict

MAX_NUMBER = 2**31 - 1


class VersionComparisonSerializer(serializers.ModelSerializer[VersionComparison]):
    """A comparison of two versions of a bot. `new` and `old` are their numbers.

    Blocks take turns with the numbers of seats in `seats`.
    """

    bot = serializers.CharField(source="bot.slug", read_only=True)
    new = serializers.IntegerField(source="new.number", read_only=True)
    old = serializers.IntegerField(source="old.number", read_only=True)
    ladder = serializers.CharField(source="ladder.slug", read_only=True)
    status = serializers.ChoiceField(choices=ComparisonStatus.choices, read_only=True)
    seats = serializers.ListField(
        source="sizes", child=serializers.IntegerField(), read_only=True
    )

    class Meta:
        model = VersionComparison
        fields = [
            "id",
            "bot",
            "new",
            "old",
            "ladder",
            "seats",
            "error",
            "max_games",
            "status",
            "note",
            "created_at",
            "ended_at",
        ]
        read_only_fields = fields


class NewComparisonSerializer(serializers.Serializer[Any]):
    """The bot's version that plays now is tested against `old`, or its last version.

    `seats` is empty for all table sizes of the ladder.
    """

    ladder = serializers.SlugField(max_length=40)
    old = serializers.IntegerField(required=False, min_value=1, max_value=MAX_NUMBER)
    seats = serializers.ListField(
        required=False,
        child=serializers.IntegerField(min_value=MIN_SEATS, max_value=MAX_SEATS),
        max_length=MAX_SEATS,
        default=list,
    )
    bounds = serializers.ListField(
        required=False,
        child=serializers.FloatField(
            min_value=-services.MAX_NELO, max_value=services.MAX_NELO
        ),
        min_length=2,
        max_length=2,
        default=list(services.DEFAULT_BOUNDS),
    )
    error = serializers.FloatField(
        required=False,
        min_value=services.MIN_ERROR,
        max_value=services.MAX_ERROR,
        default=services.DEFAULT_ERROR,
    )
    max_games = serializers.IntegerField(
        required=False,
        min_value=services.MIN_GAMES,
        max_value=services.MAX_GAMES,
        default=services.DEFAULT_GAMES,
    )


class ExpectedGamesSerializer(serializers.Serializer[Any]):
    """The games that the test needs on average at its bounds, and at worst between."""

    low = serializers.FloatField()
    worst = serializers.FloatField()
    high = serializers.FloatField()


class EffectSerializer(serializers.Serializer[Any]):
    """The mean score of a block with its 95 % interval, and the effect in nElo."""

    score = serializers.FloatField()
    interval = serializers.ListField(child=serializers.FloatField())
    nelo = serializers.FloatField()


class EvidenceSerializer(serializers.Serializer[Any]):
    """E-values: the odds against the opposite, valid whenever you look."""

    better = serializers.FloatField()
    worse = serializers.FloatField()


class FiguresSerializer(serializers.Serializer[Any]):
    """The figures of the test, as `torres compare --json` prints them."""

    verdict = serializers.ChoiceField(choices=[v.value for v in VersionVerdict])
    blocks = serializers.IntegerField()
    games = serializers.IntegerField()
    llr = serializers.FloatField()
    llr_bounds = serializers.ListField(child=serializers.FloatField())
    bounds = serializers.ListField(child=serializers.FloatField())
    expected_games = ExpectedGamesSerializer()
    effect = EffectSerializer(allow_null=True)
    e_value = EvidenceSerializer(allow_null=True)
    interval_at_all_times = serializers.ListField(
        child=serializers.FloatField(), allow_null=True
    )


class WorstBlockSerializer(serializers.Serializer[Any]):
    """A block that the old version won, counted from 1, and its games."""

    block = serializers.IntegerField()
    score = serializers.FloatField()
    seats = serializers.IntegerField()
    games = serializers.ListField(child=serializers.IntegerField())


class ComparisonReportSerializer(serializers.Serializer[Any]):
    """A comparison with its figures. `games_left` is null when it has ended."""

    comparison = VersionComparisonSerializer()
    figures = FiguresSerializer()
    games_left = serializers.FloatField(
        allow_null=True, help_text="Expected games until the test stops."
    )
    hurt_by = WorstBlockSerializer(source="worst", many=True)
