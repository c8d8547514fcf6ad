"""The JSON document of an event, as streams, pages of events and webhooks send it."""

from datetime import UTC
from typing import Any

from ladder.events.stream import EventRow


def document(row: EventRow) -> dict[str, Any]:
    """Return the document that docs/events.md describes."""
    moment = row.created_at.astimezone(UTC).isoformat().replace("+00:00", "Z")
    return {
        "number": row.number,
        "type": row.kind,
        "timestamp": moment,
        "data": row.data,
    }
