"""Select events for a reader, by what the reader may see and wants to see."""

from typing import NamedTuple

from ladder.events.stream import EventRow
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
        is_shown = row.is_shown_to(viewer.user, is_operator=viewer.is_operator)
        return is_shown and all(
            row.has_one_of(values, key) for key, values in self.filters
        )

    def text(self, rows: list[EventRow]) -> bytes:
        """Return the messages of those rows that this reader gets."""
        return b"".join(
            message(row.kind, row.document(), row.number)
            for row in rows
            if self.wants(row)
        )
