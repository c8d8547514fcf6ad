"""Open streams of server-sent events. They share what they send.

The web server has read the request and sent the head of the response, so a stream only
writes. See https://html.spec.whatwg.org/multipage/server-sent-events.html.
"""

import asyncio
import json
import socket
from collections import Counter
from http import HTTPStatus
from typing import Any

from ladder.web.api.problems import problem
from ladder.web.server.streams.request import StreamRequest

# A client that reads more slowly loses its connection, and may continue with a new one.
MAX_UNREAD_BYTES = 1 << 20
# A stream that catches up with old events waits while this much is unread.
PAUSE_AT_BYTES = 256 << 10
# Half-open connections are found, and proxies do not take the stream for dead.
KEEP_ALIVE = b":\n\n"
KEEP_ALIVE_S = 15.0
# The kernel ends a connection whose client has not confirmed data for so long.
UNCONFIRMED_MS = 60_000


def message(event: str, data: Any, number: int | None = None) -> bytes:
    """Return a message of a stream. A client that reconnects sends its last number."""
    head = f"event: {event}\n" if number is None else f"id: {number}\nevent: {event}\n"
    return f"{head}data: {json.dumps(data, separators=(',', ':'))}\n\n".encode()


class EventStream(asyncio.Protocol):
    """A connection to one client, which may only read."""

    def __init__(self, request: StreamRequest, streams: "OpenStreams") -> None:
        self.request = request
        self._streams = streams
        self._transport: asyncio.Transport | None = None
        self.writable = asyncio.Event()  # cleared while the client reads too slowly
        self.writable.set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.set_write_buffer_limits(high=PAUSE_AT_BYTES)

    def pause_writing(self) -> None:
        self.writable.clear()

    def resume_writing(self) -> None:
        self.writable.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self.writable.set()
        self._streams.forget(self)

    def eof_received(self) -> bool:
        return False  # close

    @property
    def is_open(self) -> bool:
        return self._transport is not None and not self._transport.is_closing()

    def send(self, data: bytes) -> None:
        if self._transport is None or self._transport.is_closing():
            return
        self._transport.write(data)
        if self._transport.get_write_buffer_size() > MAX_UNREAD_BYTES:
            self._transport.abort()

    def refuse(self, status: HTTPStatus, code: str, detail: str) -> None:
        """Say why nothing follows, and close."""
        self.send(message("problem", problem(status, code, detail)))
        self.close()

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()


class OpenStreams:
    """All open streams of this process, limited in number and per client address."""

    def __init__(self, limit: int, per_address: int) -> None:
        self._limit = limit
        self._per_address = per_address
        self._streams: set[EventStream] = set()
        self._addresses: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._streams)

    async def open(self, client: socket.socket, request: StreamRequest) -> EventStream:
        """Take over a connection. Raises OSError if the client has left."""
        client.setblocking(False)
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNCONFIRMED_MS)
        stream = EventStream(request, self)
        self._streams.add(stream)
        self._addresses[request.address] += 1
        loop = asyncio.get_running_loop()
        try:
            await loop.connect_accepted_socket(lambda: stream, client)
        except BaseException:
            self.forget(stream)
            raise
        self._refuse_if_too_many(stream)
        return stream

    def _refuse_if_too_many(self, stream: EventStream) -> None:
        if self._addresses[stream.request.address] > self._per_address:
            detail = (
                f"Your address has {self._per_address} streams, the most that one"
                " address may have. Close one of them first."
            )
            stream.refuse(HTTPStatus.TOO_MANY_REQUESTS, "too-many", detail)
        elif len(self._streams) > self._limit:
            detail = (
                f"The server has {self._limit} streams, its limit. Try again later, or"
                " ask for pages of events with 'Accept: application/json'."
            )
            stream.refuse(HTTPStatus.SERVICE_UNAVAILABLE, "too-many", detail)

    def forget(self, stream: EventStream) -> None:
        if stream in self._streams:
            self._streams.discard(stream)
            self._addresses[stream.request.address] -= 1
            self._addresses += Counter()  # drop zeros

    async def keep_alive(self) -> None:
        """Write to each stream now and then, for ever."""
        while True:
            await asyncio.sleep(KEEP_ALIVE_S)
            for stream in list(self._streams):
                stream.send(KEEP_ALIVE)
