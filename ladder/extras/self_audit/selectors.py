"""Reads the report of the service about itself."""

from ladder.extras.self_audit.models import SelfAudit


def newest() -> SelfAudit | None:
    """Return the newest report, or None before the first audit."""
    return SelfAudit.objects.order_by("-pk").first()
