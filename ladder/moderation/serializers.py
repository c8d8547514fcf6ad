"""The JSON of the audit log and of workers."""

from typing import Any

from rest_framework import serializers

from ladder.games.models import Worker
from ladder.moderation.models import AuditEntry


class AuditEntrySerializer(serializers.ModelSerializer[AuditEntry]):
    """One action. `by` is null for the service itself and for its console."""

    by = serializers.SlugRelatedField[Any](
        slug_field="username", read_only=True, allow_null=True
    )
    details = serializers.DictField(read_only=True)

    class Meta:
        model = AuditEntry
        fields = ["id", "kind", "target", "why", "by", "at", "details"]
        read_only_fields = fields


class WorkerSerializer(serializers.ModelSerializer[Worker]):
    class Meta:
        model = Worker
        fields = [
            "name",
            "host",
            "sandbox",
            "slots",
            "load",
            "seen_at",
            "drained",
            "drained_why",
        ]
        read_only_fields = fields
