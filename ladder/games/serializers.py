"""The JSON of matches and games in the REST API."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from ladder.common.serializing import ListedSerializer
from ladder.games.models import Game, Match, Seat


class SeatSerializer(ListedSerializer[Seat]):
    """One seat of a game. `forfeit` is the reason of a forfeit, or null."""

    seat = serializers.IntegerField(source="number")
    bot = serializers.CharField(source="submission.bot.slug")
    name = serializers.CharField(source="submission.bot.name")
    submission = serializers.IntegerField(source="submission_id")
    number = serializers.IntegerField(source="submission.number")
    forfeit = serializers.SerializerMethodField()

    class Meta:
        model = Seat
        fields = [
            "seat",
            "bot",
            "name",
            "submission",
            "number",
            "score",
            "rank",
            "forfeit",
        ]
        read_only_fields = fields

    def get_forfeit(self, seat: Seat) -> str | None:
        return seat.fault or None


class GameSerializer(ListedSerializer[Game]):
    """A game with its seats. Times are null until it has started or finished."""

    seats = SeatSerializer(many=True, read_only=True)
    ruleset = serializers.CharField(source="match.ruleset", read_only=True)
    replaces = serializers.IntegerField(
        source="replaces_id", read_only=True, allow_null=True
    )
    note = serializers.CharField(source="public_note", read_only=True)
    ladder = serializers.SerializerMethodField()

    class Meta:
        model = Game
        fields = [
            "id",
            "match",
            "index",
            "status",
            "ruleset",
            "seats",
            "reason",
            "note",
            "failures",
            "engine",
            "replaces",
            "created_at",
            "started_at",
            "finished_at",
            "ladder",
        ]
        read_only_fields = fields

    def get_ladder(self, game: Game) -> str | None:
        return game.match.ladder or None


class MatchGameSerializer(ListedSerializer[Game]):
    """One of the games of a match, with its seats."""

    seats = SeatSerializer(many=True, read_only=True)

    class Meta:
        model = Game
        fields = ["id", "index", "status", "seats"]
        read_only_fields = fields


class MatchSerializer(ListedSerializer[Match]):
    """A match with its games.

    `seed` is null until the last game with these decks is over. `deal_of` is null if
    no other match shares the deal. `ladder` and `why` are null if no ladder rates the
    match.
    """

    seed = serializers.SerializerMethodField()
    games = MatchGameSerializer(many=True, read_only=True)
    ladder = serializers.SerializerMethodField()
    why = serializers.SerializerMethodField()

    class Meta:
        model = Match
        fields = [
            "id",
            "kind",
            "ruleset",
            "switches",
            "seats",
            "limits",
            "seed",
            "deal_of",
            "created_at",
            "games",
            "ladder",
            "why",
        ]
        read_only_fields = fields

    def get_seed(self, match: Match) -> str | None:
        # The annotation is missing if the match was not read through `visibility`.
        return None if getattr(match, "open", True) else match.seed

    def get_ladder(self, match: Match) -> str | None:
        return match.ladder or None

    @extend_schema_field({"type": "object", "nullable": True})
    def get_why(self, match: Match) -> dict[str, object] | None:
        return match.why


class SeatLogSerializer(serializers.Serializer[Any]):
    """The output of one of your seats in one attempt at a game."""

    seat = serializers.IntegerField()
    bot = serializers.CharField()
    attempt = serializers.IntegerField()
    outcome = serializers.CharField()
    forfeit = serializers.CharField(allow_null=True)
    detail = serializers.CharField(allow_blank=True)
    stderr = serializers.CharField(allow_blank=True)
    notes = serializers.ListField(child=serializers.DictField())
    verdict = serializers.DictField()


class MoveSerializer(serializers.Serializer[Any]):
    """One move, as in the replay.

    `auto` is true if the referee moved for a forfeited seat; then `ms` is missing.
    """

    seat = serializers.IntegerField()
    actions = serializers.ListField(child=serializers.CharField())
    ms = serializers.FloatField(
        required=False, allow_null=True, help_text="Charged thinking time."
    )
    auto = serializers.BooleanField(required=False)


class LanguageSerializer(serializers.Serializer[Any]):
    """A language: how its bots are built and started, and who can do that now."""

    name = serializers.CharField()
    entries = serializers.ListField(
        child=serializers.CharField(), help_text="Names of the main file."
    )
    build = serializers.CharField(allow_blank=True, help_text="Empty: no build.")
    run = serializers.CharField()
    packages = serializers.ListField(
        child=serializers.CharField(), help_text="The Debian packages of a worker."
    )
    workers = serializers.IntegerField(help_text="Live workers that run it.")
    versions = serializers.ListField(
        child=serializers.CharField(), help_text="Of the tools on these workers."
    )
    waiting = serializers.IntegerField(help_text="Uploads that wait for a worker.")


class UploadLimitsSerializer(serializers.Serializer[Any]):
    packed_bytes = serializers.IntegerField()
    unpacked_bytes = serializers.IntegerField()
    files = serializers.IntegerField()
    path_bytes = serializers.IntegerField()
    path_parts = serializers.IntegerField()


class LanguagesSerializer(serializers.Serializer[Any]):
    """All languages, and the limits of an upload."""

    languages = LanguageSerializer(many=True)
    upload = UploadLimitsSerializer()


class MovesSerializer(serializers.Serializer[Any]):
    """The moves of a game so far.

    `attempt` grows with each new attempt. It is null while the game waits for a worker.
    """

    status = serializers.ChoiceField(choices=Game.Status.choices)
    attempt = serializers.IntegerField(allow_null=True)
    moves = MoveSerializer(many=True)
