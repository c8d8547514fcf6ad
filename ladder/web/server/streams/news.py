"""Select events for a reader, by what the reader may see and wants to see."""

from typing import NamedTuple

from ladder.events import stream
from ladder.events.documents import document
from ladder.events.stream import EventRow
from ladder.events.visibility import may_see
from ladder.web.server.streams.open_streams import message
from ladder.web.server.streams.request import StreamRequest, Viewer

READ_AT_ONCE = 500
Filters = tuple[tuple[str, tuple[str, ...]], ...]


class Reader(NamedTuple):
    """All streams with the same viewer and filters get the same bytes."""

    viewer: Viewer
    filters: Filters

    @classmethod
    def of(cls, request: StreamRequest) -> "Reader":
        return cls(request.viewer, tuple(sorted(request.filters.items())))

    def wants(self, row: EventRow) -> bool:
        viewer = self.viewer
        return may_see(row, viewer.user, is_operator=viewer.is_operator) and all(
            matches(row, key, values) for key, values in self.filters
        )

    def text(self, rows: list[EventRow]) -> bytes:
        """Return the messages of those rows that this reader gets."""
        return b"".join(
            message(row.kind, document(row), row.number)
            for row in rows
            if self.wants(row)
        )


def matches(row: EventRow, key: str, values: tuple[str, ...]) -> bool:
    """True if the event has one of these values at a key of its data, or this type."""
    value = row.kind if key == "type" else row.data.get(key)
    if isinstance(value, list):
        return any(each in values for each in value)
    return str(value) in values


def read_new(after: int) -> list[EventRow]:
    """Number the new events, and return the first ones after a number."""
    stream.number_new()
    return stream.read(after, READ_AT_ONCE)


def newest() -> int:
    """Return the number of the newest committed event."""
    stream.number_new()
    return stream.newest()
