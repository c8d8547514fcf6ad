"""Limits of connections that uvicorn does not have.

Most connections wait for their client: it has not sent the head of its next request.
They are closed after HEAD_TIMEOUT_S, and earlier if others need their place.
"""

import asyncio
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from itertools import chain
from typing import Any

from asgiref.typing import HTTPScope

# A browser keeps its connection open for minutes.
MAX_CONNECTIONS = 1000
# From the start of a connection, or the end of a response, to the end of the next head.
HEAD_TIMEOUT_S = 30.0
MAX_HEAD_BYTES = 32 << 10
SWEEP_INTERVAL_S = 1.0
# The kernel ends a connection whose client has not taken any data for so long.
UNTAKEN_MS = 60_000

Address = tuple[Any, Any]


class ClientConnection(asyncio.Protocol):
    """A connection of a client. It passes everything on to a protocol of uvicorn."""

    def __init__(self, http: asyncio.Protocol, connections: "Connections") -> None:
        self._http = http
        self._connections = connections
        self._head_bytes = 0
        self._transport: asyncio.Transport
        self.address: Address
        self.is_waiting = True
        self.is_lost = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        client = transport.get_extra_info("peername")
        server = transport.get_extra_info("sockname")
        self.address = (client[:2], server[:2])
        self._http.connection_made(transport)
        if not self._connections.add(self):
            self._refuse(HTTPStatus.SERVICE_UNAVAILABLE, "Retry-After: 10\r\n")

    def data_received(self, data: bytes) -> None:
        self._http.data_received(data)
        if self.is_waiting:
            self._head_bytes += len(data)
            if self._head_bytes > MAX_HEAD_BYTES:
                # After the application: it begins now if the head was complete.
                asyncio.get_running_loop().call_soon(self._refuse_long_head)

    def eof_received(self) -> bool | None:
        return self._http.eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_lost = True
        self._connections.forget(self)
        self._http.connection_lost(exc)

    def pause_writing(self) -> None:
        self._http.pause_writing()

    def resume_writing(self) -> None:
        self._http.resume_writing()

    @property
    def is_sending(self) -> bool:
        """True if the client has not taken all of the last response."""
        return self._transport.get_write_buffer_size() > 0

    def begin_request(self) -> None:
        self.is_waiting = False
        self._head_bytes = 0

    def hold(self, size: int) -> None:
        """Let a response wait if its client has not taken this many bytes of it."""
        self._transport.set_write_buffer_limits(high=size)

    def close(self) -> None:
        """Close the connection when everything was sent."""
        self._transport.close()

    def abort(self) -> None:
        """Close the connection now."""
        self._transport.abort()

    def _refuse_long_head(self) -> None:
        if self.is_waiting:
            self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)

    def _refuse(self, status: HTTPStatus, headers: str = "") -> None:
        if not self._transport.is_closing():
            head = f"HTTP/1.1 {status.value} {status.phrase}\r\n{headers}"
            closing = "Content-Length: 0\r\nConnection: close\r\n\r\n"
            self._transport.write(f"{head}{closing}".encode())
            self._transport.close()


class Connections:
    """All connections of this process, except those that became streams."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._all: dict[Address, ClientConnection] = {}
        # Those that wait for their clients, with their deadlines, the earliest first.
        self._waiting: dict[ClientConnection, float] = {}
        # Those that have sent a part of a body, the oldest first.
        self._sending_bodies: dict[ClientConnection, None] = {}

    def add(self, connection: ClientConnection) -> bool:
        """Return False if there are too many, and all of them are being served.

        Otherwise the one makes room that has waited longest for its client: for a head
        or, if no other waits for one, for the rest of a body.
        """
        if len(self._all) >= self._limit:
            oldest = next(chain(self._waiting, self._sending_bodies), None)
            if oldest is None:
                return False
            self.forget(oldest)
            oldest.close()
        self._all[connection.address] = connection
        self._wait(connection)
        return True

    def forget(self, connection: ClientConnection) -> None:
        """Count a connection no longer."""
        self._waiting.pop(connection, None)
        self._sending_bodies.pop(connection, None)
        if self._all.get(connection.address) is connection:
            del self._all[connection.address]

    def begin(self, scope: HTTPScope) -> ClientConnection | None:
        """Return the connection of a request whose head is complete.

        Return None if it was closed just now, because it was late or had to make room.
        """
        connection = self._all.get((scope["client"], scope["server"]))
        if connection is None or self._waiting.pop(connection, None) is None:
            return None
        connection.begin_request()
        return connection

    @contextmanager
    def sending_body(self, connection: ClientConnection) -> Iterator[None]:
        """Let a connection make room for others while its client sends a body."""
        self._sending_bodies[connection] = None
        try:
            yield
        finally:
            self._sending_bodies.pop(connection, None)

    def end(self, connection: ClientConnection) -> None:
        """Let a connection wait for the next request."""
        if self._all.get(connection.address) is connection:
            connection.is_waiting = True
            self._wait(connection)

    def _wait(self, connection: ClientConnection) -> None:
        self._waiting[connection] = time.monotonic() + HEAD_TIMEOUT_S

    async def close_late(self) -> None:
        """Close the connections whose clients are too late, for ever."""
        while True:
            await asyncio.sleep(SWEEP_INTERVAL_S)
            now = time.monotonic()
            for connection, deadline in list(self._waiting.items()):
                if deadline > now:
                    break
                del self._waiting[connection]
                if connection.is_sending:
                    self._wait(connection)
                else:
                    connection.close()


class LimitedLoop(asyncio.SelectorEventLoop):
    """An event loop whose servers put each connection under our limits.

    uvicorn asks the loop for its server, and does not notice the difference.
    """

    def __init__(self, connections: Connections) -> None:
        super().__init__()
        self.connections = connections

    async def create_server(  # type: ignore[override]
        self, protocol_factory: Callable[[], asyncio.Protocol], *args: Any, **words: Any
    ) -> asyncio.Server:
        return await super().create_server(
            lambda: ClientConnection(protocol_factory(), self.connections),
            *args,
            **words,
        )


def set_options(listener: socket.socket) -> None:
    """Set options that the connections of a listening socket inherit.

    Nothing waits for more to send, and on Linux the kernel ends connections whose
    clients do not read.
    """
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if sys.platform == "linux":
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNTAKEN_MS)
