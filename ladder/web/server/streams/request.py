"""The request for a stream, which the web server hands over with the connection."""

from enum import StrEnum

import msgspec

# The key of the WSGI environment with the function that hands a connection over. It is
# absent if another server than ours runs the application.
HAND_OVER = "torres.hand_over"


class Topic(StrEnum):
    EVENTS = "events"
    GAME = "game"  # one running game
    LIVE = "live"  # the featured game, and the next one after its end


class Viewer(msgspec.Struct, frozen=True):
    """The reader of a stream: a user's id or None, and whether this is an operator."""

    user: int | None = None
    is_operator: bool = False


class StreamRequest(msgspec.Struct, frozen=True):
    """A stream that somebody may read. The server has checked all of it."""

    topic: Topic
    address: str  # of the client, behind the trusted proxies
    viewer: Viewer = Viewer()
    # Events with a higher number are sent, or, without a number, those from now on. Of
    # a game frames from this index on are sent if the reader has those of this attempt.
    after: int | None = None
    game: int = 0
    attempt: int = 0
    # Events have one of these values at each key, for example {"bots": ("ana-bot",)},
    # or one of these types.
    filters: dict[str, tuple[str, ...]] = {}


def encode(request: StreamRequest) -> bytes:
    return msgspec.json.encode(request)


def decode(message: bytes) -> StreamRequest:
    return msgspec.json.decode(message, type=StreamRequest)
