"""How ladders and their leaderboards are written in the API."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from ladder.ratings import leaderboard
from ladder.ratings.models import Ladder, Season


class SeasonSerializer(serializers.ModelSerializer[Season]):
    class Meta:
        model = Season
        fields = ["number", "status", "head", "started_at", "ended_at"]
        read_only_fields = fields


class LadderSerializer(serializers.ModelSerializer[Ladder]):
    """`season` is the newest one, or null."""

    season = serializers.SerializerMethodField()

    class Meta:
        model = Ladder
        fields = [
            "slug",
            "name",
            "ruleset",
            "switches",
            "tables",
            "limits",
            "mu",
            "sigma",
            "beta",
            "tau",
            "duplicate",
            "default",
            "opens_at",
            "closes_at",
            "season",
        ]
        read_only_fields = fields

    @extend_schema_field(SeasonSerializer(allow_null=True))
    def get_season(self, ladder: Ladder) -> dict[str, Any] | None:
        season = leaderboard.current(ladder)
        return dict(SeasonSerializer(season).data) if season else None


class RowSerializer(serializers.Serializer[Any]):
    """One bot. `low` and `high` bound its μ with 95 %."""

    rank = serializers.IntegerField()
    bot = serializers.CharField()
    name = serializers.CharField()
    house = serializers.BooleanField()
    status = serializers.CharField()
    submission = serializers.IntegerField()
    mu = serializers.FloatField()
    sigma = serializers.FloatField()
    rating = serializers.FloatField(help_text="mu - 3 sigma")
    low = serializers.FloatField()
    high = serializers.FloatField()
    tied_with_above = serializers.BooleanField(
        help_text="It cannot be told from the row above with 95 %."
    )
    games = serializers.IntegerField()
    forfeits = serializers.IntegerField()
    settling = serializers.BooleanField(
        help_text="Fewer than 20 games since its code changed last."
    )


class LeaderboardSerializer(serializers.Serializer[Any]):
    ladder = serializers.CharField()
    season = serializers.IntegerField()
    count = serializers.IntegerField()
    next = serializers.CharField(allow_null=True)
    previous = serializers.CharField(allow_null=True)
    results = RowSerializer(many=True)


class PointSerializer(serializers.Serializer[Any]):
    """A bot's rating after one entry of the ledger."""

    seq = serializers.IntegerField()
    kind = serializers.CharField()
    game = serializers.IntegerField(allow_null=True)
    submission = serializers.IntegerField(
        allow_null=True, help_text="The number of the upload that it went on with here."
    )
    mu = serializers.FloatField()
    sigma = serializers.FloatField()
    rating = serializers.FloatField()
