"""The JSON of bots and submissions in the API."""

from typing import Any

from django.urls import reverse
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from ladder.bots.models import Bot, Submission


class PlayingSerializer(serializers.ModelSerializer[Submission]):
    class Meta:
        model = Submission
        fields = ["id", "number", "language"]
        read_only_fields = fields


class BotSerializer(serializers.ModelSerializer[Bot]):
    """A bot. `playing` is the submission that plays, or null.

    The public log has a hash of `name_salt`, slug and name under the number `id`.
    """

    owner = serializers.SlugRelatedField[Any](
        slug_field="username", read_only=True, allow_null=True
    )
    playing = serializers.SerializerMethodField()

    class Meta:
        model = Bot
        fields = [
            *("id", "slug", "name", "owner", "house", "status", "playing"),
            *("created_at", "name_salt"),
        ]
        read_only_fields = fields

    @extend_schema_field(PlayingSerializer(allow_null=True))
    def get_playing(self, bot: Bot) -> dict[str, object] | None:
        ready: list[Submission] = getattr(bot, "playing", [])
        return dict(PlayingSerializer(ready[0]).data) if ready else None


class TextField(serializers.CharField):
    """A JSON string. Django REST framework's own field also accepts numbers."""

    def to_internal_value(self, data: object) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return super().to_internal_value(data)


class NewBotSerializer(serializers.Serializer[Bot]):
    name = TextField(max_length=64, help_text="The slug of the bot is made from it.")


class StepSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    ok = serializers.BooleanField()
    detail = serializers.CharField(allow_blank=True)
    ms = serializers.IntegerField(required=False)


class FindingSerializer(serializers.Serializer[Any]):
    """A mistake that lost a game of the validation: its cause and its cure."""

    code = serializers.CharField()
    cause = serializers.CharField()
    cure = serializers.CharField()
    where = serializers.CharField(
        allow_blank=True, help_text="The games in which it happened; empty for all."
    )


class ReportSerializer(serializers.Serializer[Any]):
    """The steps of the validation and the mistakes that it found, for everybody."""

    summary = serializers.CharField(default="", allow_blank=True)
    steps = StepSerializer(many=True, default=list)
    findings = FindingSerializer(many=True, default=list)


class SubmissionSerializer(serializers.ModelSerializer[Submission]):
    bot = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    report = ReportSerializer(read_only=True)

    class Meta:
        model = Submission
        fields = [
            "id",
            "bot",
            "number",
            "status",
            "digest",
            "language",
            "size",
            "created_at",
            "ready_at",
            "report",
        ]
        read_only_fields = fields


class OwnSubmissionSerializer(SubmissionSerializer):
    """A submission for its owner: with its log and the address of its archive."""

    archive = serializers.SerializerMethodField()

    class Meta(SubmissionSerializer.Meta):
        fields = [*SubmissionSerializer.Meta.fields, "log", "archive"]
        read_only_fields = fields

    def get_archive(self, submission: Submission) -> str:
        return reverse("api:submission-archive", args=[submission.pk])


class UploadSerializer(serializers.Serializer[Submission]):
    archive = serializers.FileField(
        allow_empty_file=True, help_text="A zip, a tar.gz, or one source file."
    )


class LogSerializer(serializers.ModelSerializer[Submission]):
    class Meta:
        model = Submission
        fields = ["id", "log"]
        read_only_fields = fields
