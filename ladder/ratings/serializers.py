"""Serializers of ladders, leaderboards, histories and statistics.

The rows that they serialize are the dataclasses of `leaderboard.py` and `statistics.py`
with the same field names.
"""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from ladder.ratings import leaderboard
from ladder.ratings.models import Ladder, Membership, Season


class SeasonSerializer(serializers.ModelSerializer[Season]):
    class Meta:
        model = Season
        fields = ["number", "status", "head", "started_at", "ended_at"]
        read_only_fields = fields


class LadderSerializer(serializers.ModelSerializer[Ladder]):
    """A ladder. `season` is its newest season, or null."""

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
            "shared_deals",
            "default",
            "admission",
            "opens_at",
            "closes_at",
            "season",
        ]
        read_only_fields = fields

    @extend_schema_field(SeasonSerializer(allow_null=True))
    def get_season(self, ladder: Ladder) -> dict[str, object] | None:
        season = leaderboard.current(ladder)
        return dict(SeasonSerializer(season).data) if season else None


class LadderDocumentSerializer(serializers.Serializer[Any]):
    """The keys of a ladder. `ladder.ratings.editing` reads and checks them."""

    name = serializers.CharField(max_length=80, required=False)
    slug = serializers.RegexField(
        r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=40, required=False
    )
    ruleset = serializers.CharField(required=False)
    switches = serializers.DictField(required=False)
    tables = serializers.DictField(
        child=serializers.FloatField(min_value=0),
        required=False,
        help_text='Share of matches by seats: {"2": 0.4, "3": 0.2, "4": 0.4}.',
    )
    limits = serializers.DictField(child=serializers.IntegerField(), required=False)
    duplicate = serializers.BooleanField(required=False)
    shared_deals = serializers.BooleanField(required=False)
    default = serializers.BooleanField(required=False)
    admission = serializers.ChoiceField(choices=Ladder.Admission.values, required=False)
    opens_at = serializers.DateTimeField(allow_null=True, required=False)
    closes_at = serializers.DateTimeField(allow_null=True, required=False)
    mu = serializers.FloatField(required=False)
    sigma = serializers.FloatField(required=False)
    beta = serializers.FloatField(required=False)
    tau = serializers.FloatField(required=False)


class JointSerializer(serializers.Serializer[Any]):
    """The strength of a bot by the joint fit of all games of its season."""

    value = serializers.FloatField(help_text="Points of skill above the house bots.")
    low = serializers.FloatField(help_text="95 % interval of the value.")
    high = serializers.FloatField()
    best = serializers.IntegerField(
        help_text="No better rank is possible; with 95 % that is right for all bots."
    )
    worst = serializers.IntegerField(help_text="No worse rank is possible.")
    games = serializers.IntegerField(help_text="Games of the present upload.")
    weighted_rank = serializers.IntegerField(
        help_text="The rank if bots of one owner, and copies, share one vote."
    )


TRUESKILL_INTERVAL = (
    "mu - 1.96 sigma and mu + 1.96 sigma of TrueSkill. They contain the true skill less"
    " often than 95 %, the less the more games; the 95 % interval is in `joint`."
)


class RowSerializer(serializers.Serializer[Any]):
    """One bot on the leaderboard. `low` and `high` are μ ± 1.96 σ of TrueSkill.

    On a past leaderboard the values that can be null are null.
    """

    rank = serializers.IntegerField()
    bot = serializers.CharField()
    id = serializers.IntegerField(help_text="The bot's number in the public log.")
    name = serializers.CharField()
    house = serializers.BooleanField()
    status = serializers.CharField(
        allow_null=True,
        help_text="The status of the bot; if that is active, its status on the ladder.",
    )
    submission = serializers.IntegerField(allow_null=True)
    mu = serializers.FloatField()
    sigma = serializers.FloatField()
    rating = serializers.FloatField(help_text="mu - 3 sigma")
    low = serializers.FloatField(help_text=TRUESKILL_INTERVAL)
    high = serializers.FloatField()
    tied_with_above = serializers.BooleanField(
        help_text="TrueSkill alone does not tell it apart from the row above with 95 %."
    )
    games = serializers.IntegerField(allow_null=True)
    forfeits = serializers.IntegerField(allow_null=True)
    settling = serializers.BooleanField(
        allow_null=True, help_text="Fewer than 20 games since its code changed last."
    )
    joint = JointSerializer(
        allow_null=True,
        help_text="Null before the upload's 10th game, and on a past leaderboard.",
    )
    trend = serializers.FloatField(
        required=False,
        allow_null=True,
        help_text="The change of the rating over the last 20 games, with `trend=true`.",
    )


class LeaderboardSerializer(serializers.Serializer[Any]):
    ladder = serializers.CharField()
    season = serializers.IntegerField()
    at = serializers.DateTimeField(
        allow_null=True, help_text="The moment of a past leaderboard."
    )
    head = serializers.IntegerField(
        allow_null=True,
        help_text="The rows follow from this many entries of the season's ledger. Null"
        " if entries were added all the time; then ask again.",
    )
    joint_seq = serializers.IntegerField(
        allow_null=True,
        help_text="The last entry of the ledger that `joint` knows; null without it.",
    )
    count = serializers.IntegerField()
    next = serializers.CharField(allow_null=True)
    previous = serializers.CharField(allow_null=True)
    results = RowSerializer(many=True)


class LadderPlaceSerializer(serializers.Serializer[Any]):
    """A ladder as seen from one bot. `why` says why a bot is benched, to its owner."""

    ladder = serializers.SlugField(source="ladder.slug")
    name = serializers.CharField(source="ladder.name")
    default = serializers.BooleanField(source="ladder.default")
    status = serializers.ChoiceField(
        Membership.Status.choices,
        allow_null=True,
        help_text="Null if the bot was never on the ladder.",
    )
    why = serializers.CharField(allow_blank=True)
    can_join = serializers.BooleanField(help_text="The owner may let it join now.")
    can_leave = serializers.BooleanField(help_text="The owner may let it leave now.")


class PointSerializer(serializers.Serializer[Any]):
    """A bot's rating after one entry of the ledger."""

    season = serializers.IntegerField(help_text="The number of the season.")
    seq = serializers.IntegerField()
    kind = serializers.CharField()
    game = serializers.IntegerField(allow_null=True)
    submission = serializers.IntegerField(
        allow_null=True,
        help_text="The number of the upload that the bot plays with from here on.",
    )
    mu = serializers.FloatField()
    sigma = serializers.FloatField()
    rating = serializers.FloatField()


class StrengthSerializer(serializers.Serializer[Any]):
    players = serializers.IntegerField()
    seat = serializers.IntegerField(help_text="From 0.")
    games = serializers.IntegerField()
    wins = serializers.IntegerField()
    share = serializers.FloatField(
        help_text="Share of opponents beaten; a tie counts half."
    )


class CountedSerializer(serializers.Serializer[Any]):
    """Counts of games of a season."""

    season = serializers.IntegerField(help_text="The number of the season.")
    counted_seq = serializers.IntegerField(
        allow_null=True,
        help_text="The games are counted up to this entry of the season's ledger. Null"
        " if entries were added all the time; then ask again.",
    )


class RecordSerializer(CountedSerializer):
    """A bot's numbers in the present season. `low` and `high`: μ ± 1.96 σ."""

    bot = serializers.CharField()
    rank = serializers.IntegerField()
    mu = serializers.FloatField()
    sigma = serializers.FloatField()
    rating = serializers.FloatField()
    low = serializers.FloatField()
    high = serializers.FloatField()
    games = serializers.IntegerField()
    forfeits = serializers.IntegerField()
    fresh = serializers.IntegerField(help_text="Games since its code changed last.")
    settling = serializers.BooleanField()
    trend = serializers.FloatField(
        allow_null=True, help_text="Change of the rating over its last 20 games."
    )
    joint = JointSerializer(allow_null=True)
    strength = StrengthSerializer(many=True)


class MeetingSerializer(serializers.Serializer[Any]):
    """Head to head, by TrueSkill. `low` and `high`: `apart` ± 1.96 standard deviations.

    They contain the true difference less often than 95 %, as on the leaderboard.
    """

    bot = serializers.CharField()
    other = serializers.CharField()
    games = serializers.IntegerField()
    before = serializers.IntegerField(
        help_text="Games in which the bot finished ahead of the other."
    )
    ties = serializers.IntegerField()
    chance = serializers.FloatField(
        help_text="Probability of finishing ahead in the next game."
    )
    better = serializers.FloatField(help_text="Probability of the higher skill.")
    apart = serializers.FloatField()
    low = serializers.FloatField()
    high = serializers.FloatField()


class DealScoreSerializer(serializers.Serializer[Any]):
    share = serializers.FloatField(
        help_text="Mean share of opponents beaten; a tie counts half."
    )
    points = serializers.FloatField(help_text="Mean points.")
    games = serializers.ListField(child=serializers.IntegerField())


class ComparedDealSerializer(serializers.Serializer[Any]):
    deal = serializers.IntegerField(help_text="The first match with these decks.")
    one = DealScoreSerializer()
    other = DealScoreSerializer()
    ahead = serializers.FloatField()


class DealComparisonSerializer(serializers.Serializer[Any]):
    """Two bots on the latest deals that both have played, at most 100."""

    bot = serializers.CharField()
    other = serializers.CharField()
    ahead = serializers.FloatField(
        allow_null=True,
        help_text="Mean difference of the shares; positive if the bot did better.",
    )
    low = serializers.FloatField(
        allow_null=True, help_text="95 % interval of `ahead`; null below 20 deals."
    )
    high = serializers.FloatField(allow_null=True)
    points = serializers.FloatField(
        allow_null=True, help_text="Mean difference of the points."
    )
    deals = ComparedDealSerializer(many=True)


class OpponentPageSerializer(CountedSerializer):
    """A page of the opponents of a bot."""

    count = serializers.IntegerField()
    next = serializers.CharField(allow_null=True)
    previous = serializers.CharField(allow_null=True)
    results = MeetingSerializer(many=True)


class BandSerializer(serializers.Serializer[Any]):
    """Positions, from 1, whose bots the joint fit cannot tell apart from the first."""

    first = serializers.IntegerField()
    last = serializers.IntegerField()
    mu = serializers.FloatField(help_text="μ of the band's first bot.")


class OpinionOnBotSerializer(serializers.Serializer[Any]):
    """One bot in a second opinion."""

    rank = serializers.IntegerField()
    bot = serializers.CharField()
    name = serializers.CharField()
    house = serializers.BooleanField()
    submission = serializers.IntegerField(help_text="The number of the upload.")
    games = serializers.IntegerField(help_text="Games of this upload.")
    value = serializers.FloatField(
        help_text="Points of skill above the mean of the anchors."
    )
    low = serializers.FloatField(help_text="95 % interval of the value.")
    high = serializers.FloatField()
    best = serializers.IntegerField(
        help_text="No better rank is possible; with 95 % that is right for all bots."
    )
    worst = serializers.IntegerField(help_text="No worse rank is possible.")
    top = serializers.FloatField(
        help_text="Probability of being one of the best three."
    )
    duel = serializers.FloatField(
        help_text="Probability of winning a duel with a random one of the others."
    )
    weighted = serializers.FloatField(
        help_text="The value if bots of one owner, and copies, share one vote."
    )
    weighted_rank = serializers.IntegerField()


class OpinionPointSerializer(OpinionOnBotSerializer):
    """The opinion on a bot after one entry of the ledger."""

    seq = serializers.IntegerField()
    created_at = serializers.DateTimeField()


class CombinedStrengthsSerializer(serializers.Serializer[Any]):
    """A page of strengths over all ladders: one fit of their present seasons.

    `seq`, `games`, `submissions`, `anchors` and `created_at` are null before the first.
    """

    seq = serializers.IntegerField(
        allow_null=True,
        help_text="The last entry that it knows; over all ladders, their sum.",
    )
    games = serializers.IntegerField(allow_null=True)
    submissions = serializers.IntegerField(allow_null=True)
    anchors = serializers.ListField(
        child=serializers.SlugField(),
        allow_null=True,
        help_text="The house bots whose mean is the zero point; if none, all bots.",
    )
    created_at = serializers.DateTimeField(allow_null=True)
    count = serializers.IntegerField()
    next = serializers.CharField(allow_null=True)
    previous = serializers.CharField(allow_null=True)
    results = OpinionOnBotSerializer(many=True)


class SecondOpinionSerializer(CombinedStrengthsSerializer):
    """A page of the second opinion on a season: the joint fit of all its games."""

    ladder = serializers.SlugField()
    season = serializers.IntegerField()


class ChallengeSerializer(serializers.Serializer[Any]):
    """Bots by seat; one of them is yours. The match is not rated."""

    bots = serializers.ListField(
        child=serializers.SlugField(), min_length=2, max_length=4
    )
