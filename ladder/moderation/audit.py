"""Writes the audit log."""

from dataclasses import dataclass

from django.contrib.auth.models import User

from ladder.events.outbox import NewLeaf, record
from ladder.moderation.models import MAX_WHY_LENGTH, AuditEntry
from torres.tlog.leaves import LeafKind


@dataclass(frozen=True, slots=True)
class Operator:
    """The person who acts, and the reason.

    ``by`` is None for the service itself, and for a person at the console of the host.
    """

    by: User | None
    why: str

    def record(
        self, kind: AuditEntry.Kind, target: str, **details: object
    ) -> AuditEntry:
        """Add an entry to the audit log. ``details`` must be JSON values.

        The public log says what was done to what kind of thing, and not to which one.
        """
        data = {"act": kind.value, "target": target.partition(" ")[0]}
        record(leaf=NewLeaf(LeafKind.OPERATOR_ACTED, None, data))
        return AuditEntry.objects.create(
            kind=kind,
            by=self.by,
            target=target,
            why=self.why[:MAX_WHY_LENGTH],
            details=details,
        )
