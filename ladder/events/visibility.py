"""Decide who may see an event."""

from ladder.events.stream import EventRow


def may_see(row: EventRow, user_id: int | None, *, is_operator: bool) -> bool:
    """True if a person may see an event; `user_id` is None for a visitor.

    Operators see all events, because they see the same things in the admin.
    """
    return row.public or is_operator or (user_id is not None and user_id in row.owners)
