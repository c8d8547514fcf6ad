"""Moments in requests: dates and times as in RFC 3339."""

from datetime import UTC, datetime

MOMENT_HINT = "Use a date or a time in UTC, like 2026-11-22 or 2026-11-22T18:30:00Z."


def parse_moment(text: str) -> datetime | None:
    """Return a moment in UTC; None if the text is no date and no time.

    A date stands for its beginning. A time without a zone is in UTC.
    """
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            return moment.replace(tzinfo=UTC)
        return moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
