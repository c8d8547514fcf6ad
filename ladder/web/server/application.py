"""The ASGI application: limits of requests, Django in threads, and streams.

A request gets a thread when the server has all of its body, and gives it back when it
has the response. So neither half-sent requests nor slow readers occupy a thread.
"""

import asyncio
import time
from http import HTTPStatus
from itertools import chain
from tempfile import SpooledTemporaryFile
from typing import IO, NamedTuple

from asgiref.typing import ASGIReceiveCallable, ASGISendCallable, HTTPScope, Scope
from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.db import connection as database
from django.http import parse_cookie

from ladder.web.api import problems
from ladder.web.middleware import bodies
from ladder.web.server.connections import MAX_HEAD_BYTES, ClientConnection, Connections
from ladder.web.server.request_threads import (
    PAGE_THREADS,
    UPLOAD_THREADS,
    RequestThreads,
)
from ladder.web.server.streams.service import Streams
from ladder.web.server.wsgi_answers import (
    PART_BYTES,
    WsgiAnswer,
    environ_of,
    headers_of,
)

# A larger body is a file.
MAX_BODY_IN_MEMORY = 512 << 10
# A client loses its connection if it sends nothing of a body for so long, or less than
# this on average.
BODY_PAUSE_S = 30.0
MIN_BYTES_PER_S = 1024
# The server holds up to 16 MiB of a response that is computed while it is sent, for 8
# responses at a time. The place of an export then becomes free when it is computed, and
# not when a slow client has read it.
AHEAD_BYTES = 16 << 20
MAX_AHEAD = 8


class ClientLeft(Exception):
    """The client has closed its connection, or is too slow."""


class WholeAnswer(NamedTuple):
    """A response that is sent without Django, and ends its connection."""

    status: HTTPStatus
    content_type: str
    body: bytes


LONG_HEAD = WholeAnswer(
    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE,
    "text/plain",
    b"The headers of the request are too large.\n",
)


class Exchange(NamedTuple):
    """A request whose head is complete, and the way to answer it."""

    connection: ClientConnection
    scope: HTTPScope
    receive: ASGIReceiveCallable
    send: ASGISendCallable


class Application:
    """Serves requests within the limits of their heads, bodies and clients."""

    def __init__(self, connections: Connections, streams: Streams) -> None:
        self._connections = connections
        self._streams = streams
        self._django = get_wsgi_application()
        self._pages = RequestThreads("pages", PAGE_THREADS)
        self._uploads = RequestThreads("uploads", UPLOAD_THREADS)
        self._ahead = 0

    async def __call__(
        self, scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable
    ) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "http":
            connection = self._connections.begin(scope)
            if connection is None:
                await _until_gone(receive)
                return
            try:
                await self._serve(Exchange(connection, scope, receive, send))
            except (ClientLeft, asyncio.CancelledError):  # or the server stops
                connection.abort()
                await asyncio.sleep(0)  # then uvicorn knows that the client has gone
            finally:
                self._connections.end(connection)

    async def _live(self, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        """Do the work that belongs to no request while the server runs."""
        await receive()
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(self._connections.close_late()),
                group.create_task(self._streams.run()),
            ]
            await send({"type": "lifespan.startup.complete"})
            await receive()
            for task in tasks:
                task.cancel()
        await send({"type": "lifespan.shutdown.complete"})

    async def _serve(self, exchange: Exchange) -> None:
        scope = exchange.scope
        headers = headers_of(scope)
        length = bodies.length_of(headers.get("content-length"))
        is_large = length > bodies.MAX_BODY_BYTES
        refusal = None
        if sum(map(len, chain(*scope["headers"]))) > MAX_HEAD_BYTES:
            refusal = LONG_HEAD
        elif is_large or "transfer-encoding" in headers:
            refusal = await self._pages.run(_refusal, scope["path"], length, headers)
        if refusal is not None:
            await _send_whole(exchange.send, refusal)
            return
        threads = self._uploads if is_large else self._pages
        with SpooledTemporaryFile(MAX_BODY_IN_MEMORY) as body:
            if length:
                with self._connections.sending_body(exchange.connection):
                    await _read_body(exchange.receive, body)
            environ = environ_of(scope, headers, body)
            answer = await threads.run(WsgiAnswer, self._django, environ)
        if answer.stream is None:
            await self._send(exchange, answer, threads)
        else:
            self._connections.forget(exchange.connection)
            await self._send_stream(exchange, answer)

    async def _send(
        self, exchange: Exchange, answer: WsgiAnswer, threads: RequestThreads
    ) -> None:
        """Send a response. Compute it ahead of its client if it has no length yet."""
        if answer.is_over or answer.has_length or self._ahead >= MAX_AHEAD:
            await _send(exchange, answer, threads)
            return
        self._ahead += 1
        exchange.connection.hold(AHEAD_BYTES)
        try:
            await _send(exchange, answer, threads)
        finally:
            self._ahead -= 1

    async def _send_stream(self, exchange: Exchange, answer: WsgiAnswer) -> None:
        assert answer.stream is not None
        await _start(exchange.send, answer.status, answer.head())
        await self._streams.serve(
            answer.stream, exchange.receive, exchange.send, exchange.connection.abort
        )


def _refusal(path: str, length: int, headers: dict[str, str]) -> WholeAnswer | None:
    """Return the response to a body that is not read; None if it is permitted."""
    cookies = parse_cookie(headers.get("cookie", ""))
    refusal = bodies.check_body(
        path,
        length,
        chunked="transfer-encoding" in headers,
        credentials=bodies.Credentials(
            cookies.get(settings.SESSION_COOKIE_NAME, ""),
            headers.get("authorization", ""),
        ),
    )
    database.close()  # the check may have opened one
    if refusal is None:
        return None
    return WholeAnswer(refusal.status, *problems.content(path, *refusal))


async def _until_gone(receive: ASGIReceiveCallable) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _read_body(receive: ASGIReceiveCallable, body: IO[bytes]) -> None:
    """Write the body of a request to a file. Raises ClientLeft."""
    started, received, is_complete = time.monotonic(), 0, False
    while not is_complete:
        slowest = started + BODY_PAUSE_S + received / MIN_BYTES_PER_S
        patience = min(BODY_PAUSE_S, slowest - time.monotonic())
        try:
            async with asyncio.timeout(patience):
                message = await receive()
        except TimeoutError:
            raise ClientLeft from None
        if message["type"] != "http.request":
            raise ClientLeft
        received += len(message["body"])
        body.write(message["body"])
        is_complete = not message["more_body"]
    body.seek(0)


async def _send(
    exchange: Exchange, answer: WsgiAnswer, threads: RequestThreads
) -> None:
    """Send a response, part by part, as fast as its client takes it."""
    connection, send, part = exchange.connection, exchange.send, answer.first
    try:
        await _start(send, answer.status, answer.head())
        while not answer.is_over:
            await _send_part(send, part, more=True)
            if connection.is_lost or exchange.scope["method"] == "HEAD":
                break
            part = await threads.run(answer.read)
    finally:
        if not answer.is_over:
            await threads.run(answer.close)
    connection.hold(PART_BYTES)  # so the last part waits until the others were sent
    await _send_part(send, part, more=False)


async def _send_whole(send: ASGISendCallable, answer: WholeAnswer) -> None:
    head = [
        (b"content-type", answer.content_type.encode()),
        (b"content-length", b"%d" % len(answer.body)),
        (b"connection", b"close"),
    ]
    await _start(send, answer.status, head)
    await _send_part(send, answer.body, more=False)


async def _start(
    send: ASGISendCallable, status: int, headers: list[tuple[bytes, bytes]]
) -> None:
    await send(
        {
            "type": "http.response.start",
            "status": status,
            "headers": headers,
            "trailers": False,
        }
    )


async def _send_part(send: ASGISendCallable, body: bytes, *, more: bool) -> None:
    await send({"type": "http.response.body", "body": body, "more_body": more})
