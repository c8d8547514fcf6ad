"""Open streams of server-sent events. They share the bytes that they send.

See https://html.spec.whatwg.org/multipage/server-sent-events.html.
"""

import asyncio
import json
from collections import Counter, deque
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from asgiref.typing import ASGIReceiveCallable, ASGISendCallable

from ladder.web.api.problems import problem
from ladder.web.server.streams.request import StreamRequest

# A client that reads more slowly loses its connection, and may continue with a new one.
MAX_UNREAD_BYTES = 1 << 20
# A stream that catches up with old events waits while this much is unread.
PAUSE_AT_BYTES = 256 << 10
# Half-open connections are found, and proxies do not take the stream for dead.
KEEP_ALIVE = b":\n\n"
KEEP_ALIVE_S = 15.0


def message(event: str, data: Any, number: int | None = None) -> bytes:
    """Return a message of a stream. A client that reconnects sends its last number."""
    head = f"event: {event}\n" if number is None else f"id: {number}\nevent: {event}\n"
    return f"{head}data: {json.dumps(data, separators=(',', ':'))}\n\n".encode()


class EventStream:
    """A stream to one client. Messages wait here until the client takes them."""

    def __init__(self, request: StreamRequest, abort: Callable[[], None]) -> None:
        self.request = request
        self.is_open = True
        self.writable = asyncio.Event()  # cleared while the client reads too slowly
        self.writable.set()
        self._abort = abort
        self._unread: deque[bytes] = deque()
        self._unread_bytes = 0
        self._wake = asyncio.Event()

    def send(self, data: bytes) -> None:
        if not self.is_open:
            return
        self._unread.append(data)
        self._unread_bytes += len(data)
        self._wake.set()
        if self._unread_bytes > PAUSE_AT_BYTES:
            self.writable.clear()
        if self._unread_bytes > MAX_UNREAD_BYTES:
            self._drop()
            self._abort()

    def refuse(self, status: HTTPStatus, code: str, detail: str) -> None:
        """Say why nothing follows, and close."""
        self.send(message("problem", problem(status, code, detail)))
        self.close()

    def close(self) -> None:
        """End the stream when its client has taken everything."""
        self.is_open = False
        self.writable.set()
        self._wake.set()

    async def serve(self, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        """Send messages until the stream is closed or its client leaves."""
        watching = asyncio.create_task(self._notice_the_end(receive))
        try:
            while True:
                while self._unread:
                    await self._send_one(send)
                if not self.is_open:
                    break
                self._wake.clear()
                await self._wake.wait()
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            watching.cancel()
            self._drop()

    async def _send_one(self, send: ASGISendCallable) -> None:
        data = self._unread.popleft()
        self._unread_bytes -= len(data)
        if self._unread_bytes <= PAUSE_AT_BYTES:
            self.writable.set()
        await send({"type": "http.response.body", "body": data, "more_body": True})

    async def _notice_the_end(self, receive: ASGIReceiveCallable) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self._drop()

    def _drop(self) -> None:
        self._unread.clear()
        self._unread_bytes = 0
        self.close()


class OpenStreams:
    """All open streams of this process, limited in number and per client address."""

    def __init__(self, limit: int, per_address: int) -> None:
        self._limit = limit
        self._per_address = per_address
        self._streams: set[EventStream] = set()
        self._addresses: Counter[str] = Counter()

    def open(self, request: StreamRequest, abort: Callable[[], None]) -> EventStream:
        """Return a new stream. It is closed already if there are too many."""
        stream = EventStream(request, abort)
        self._refuse_if_too_many(stream)
        if stream.is_open:  # one that is refused takes no place from others
            self._streams.add(stream)
            self._addresses[request.address] += 1
        return stream

    def _refuse_if_too_many(self, stream: EventStream) -> None:
        if self._addresses[stream.request.address] >= self._per_address:
            detail = (
                f"Your address has {self._per_address} streams, the most that one"
                " address may have. Close one of them first."
            )
            stream.refuse(HTTPStatus.TOO_MANY_REQUESTS, "too-many", detail)
        elif len(self._streams) >= self._limit:
            detail = (
                f"The server has {self._limit} streams, its limit. Try again later, or"
                " ask for pages of events with 'Accept: application/json'."
            )
            stream.refuse(HTTPStatus.SERVICE_UNAVAILABLE, "too-many", detail)

    def forget(self, stream: EventStream) -> None:
        if stream not in self._streams:
            return
        self._streams.remove(stream)
        self._addresses[stream.request.address] -= 1
        if not self._addresses[stream.request.address]:
            del self._addresses[stream.request.address]

    def close(self) -> None:
        """Close all streams."""
        for stream in self._streams:
            stream.close()

    async def keep_alive(self) -> None:
        """Write to each stream now and then, for ever."""
        while True:
            await asyncio.sleep(KEEP_ALIVE_S)
            for stream in self._streams:
                stream.send(KEEP_ALIVE)
