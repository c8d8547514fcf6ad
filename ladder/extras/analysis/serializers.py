"""The JSON of analyses in the REST API."""

from functools import cached_property
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from engine.turning_points import MAX_LINE
from ladder.extras.analysis.models import Analysis, AnalysisStatus
from ladder.extras.analysis.selectors import Queue

MAX_PLY = 100_000
MAX_ACTION_CHARS = 60


class AnalysisSerializer(serializers.ModelSerializer[Analysis]):
    """An analysis of a game, or with `ply` of a position. `document` is its result.

    The result is null until the status is `finished`. The key `format` of it is
    `torres-analysis/1` or `torres-what-if/1`.
    """

    status = serializers.ChoiceField(choices=AnalysisStatus.choices, read_only=True)
    line = serializers.ListField(child=serializers.CharField(), read_only=True)
    document = serializers.SerializerMethodField()
    expected_s = serializers.SerializerMethodField(
        help_text="The expected wait in seconds, from measured times. Null if the"
        " analysis has ended, or if the service has measured none yet."
    )

    class Meta:
        model = Analysis
        fields = [
            "id",
            "game",
            "ply",
            "line",
            "story",
            "status",
            "expected_s",
            "note",
            "created_at",
            "ended_at",
            "document",
        ]
        read_only_fields = fields

    @extend_schema_field(serializers.DictField(allow_null=True))
    def get_document(self, analysis: Analysis) -> dict[str, object] | None:
        is_finished = analysis.status == AnalysisStatus.FINISHED
        document: dict[str, object] | None = analysis.document if is_finished else None
        return document

    @cached_property
    def queue(self) -> Queue:
        """The open analyses, read once for all rows of a list."""
        return Queue()

    def get_expected_s(self, analysis: Analysis) -> int | None:
        return self.queue.expected_s(analysis) if analysis.is_open else None


class NewAnalysisSerializer(serializers.Serializer[Any]):
    """Without `ply` the whole game is analysed.

    With it, all actions are compared that are legal before the action with this number,
    or after `line` from there.
    """

    ply = serializers.IntegerField(
        required=False, allow_null=True, default=None, min_value=0, max_value=MAX_PLY
    )
    line = serializers.ListField(
        required=False,
        child=serializers.CharField(max_length=MAX_ACTION_CHARS),
        max_length=MAX_LINE,
        default=list,
    )
