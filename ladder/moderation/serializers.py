"""The JSON of the audit log."""

from typing import Any

from rest_framework import serializers

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
