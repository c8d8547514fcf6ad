"""The request for a stream, which a view passes on to the web server."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

# The key of the WSGI environment with the function that opens a stream behind the head
# of the response. It is absent if another server than ours runs Django.
OPEN_STREAM = "torres.open_stream"


class Topic(StrEnum):
    EVENTS = "events"
    GAME = "game"  # one running game
    LIVE = "live"  # the featured game, and the next one after its end


@dataclass(frozen=True, slots=True)
class Viewer:
    """The reader of a stream: a user's id or None, and whether this is an operator."""

    user: int | None = None
    is_operator: bool = False


NOBODY = Viewer()


@dataclass(frozen=True, slots=True)
class StreamRequest:
    """A stream that somebody may read. The view has checked all of it."""

    topic: Topic
    address: str  # of the client, behind the trusted proxies
    viewer: Viewer = NOBODY
    # Events with a higher number are sent, or, without a number, those from now on. Of
    # a game frames from this index on are sent if the reader has those of this attempt.
    after: int | None = None
    game: int = 0
    attempt: int = 0
    # Events have one of these values at each key, for example {"bots": ("ana-bot",)},
    # or one of these types.
    filters: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
