"""Entries of the audit log."""

from dataclasses import dataclass

from django.contrib.auth.models import User

from ladder.moderation.models import AuditEntry


@dataclass(frozen=True, slots=True)
class Operator:
    """The person who acts (None: the service, or a person at its console), and why."""

    by: User | None
    why: str

    def record(
        self, kind: AuditEntry.Kind, target: str, **details: object
    ) -> AuditEntry:
        return AuditEntry.objects.create(
            kind=kind, by=self.by, target=target, why=self.why[:300], details=details
        )
