"""The process that serves all streams of one web server.

The web server passes each connection on with one message of a Unix socket. This process
reads what is new from the database, a few times a second for all streams together, and
writes it to the streams that want it.
"""

import asyncio
import resource
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

import structlog
from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection

from ladder.web.server.streams.connections import OpenStreams
from ladder.web.server.streams.event_streams import EventStreams
from ladder.web.server.streams.game_streams import GameStreams
from ladder.web.server.streams.request import StreamRequest, Topic, decode

MAX_MESSAGE_BYTES = 64 << 10
OUTAGE_S = 2.0  # between two attempts to read from a database that fails

P = ParamSpec("P")
T = TypeVar("T")
log = structlog.get_logger()


class Database:
    """Runs queries in one thread, because Django's queries block.

    The thread keeps its connection, because it asks several times a second.
    """

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="database")
        self._fails = False

    async def run(
        self, query: Callable[P, T], *args: P.args, **kwargs: P.kwargs
    ) -> T | None:
        """Return what a query returns; None after a while if the database fails."""

        def ask() -> T:
            try:
                return query(*args, **kwargs)
            except (DatabaseError, InterfaceError):
                connection.close()
                raise

        loop = asyncio.get_running_loop()
        try:
            result = await loop.run_in_executor(self._thread, ask)
        except (DatabaseError, InterfaceError) as error:
            if self._fails:
                await asyncio.sleep(OUTAGE_S)
            else:  # a new connection may work
                log.warning("streams wait for the database", error=str(error))
            self._fails = True
            return None
        self._fails = False
        return result


class StreamProcess:
    """Serves streams until the web server closes its end of the socket."""

    def __init__(self, inbox: socket.socket) -> None:
        self._inbox = inbox
        self._inbox.setblocking(False)
        self._database = Database()
        self._open = OpenStreams(
            settings.TORRES_MAX_STREAMS, settings.TORRES_MAX_STREAMS_PER_ADDRESS
        )
        self._games = GameStreams(self._database.run)
        self._events = EventStreams(self._database.run)
        self._opening: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        loop = asyncio.get_running_loop()
        closed = asyncio.Event()
        loop.add_reader(self._inbox.fileno(), self._accept, closed)
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(self._open.keep_alive()),
                group.create_task(self._games.follow()),
                group.create_task(self._events.follow()),
            ]
            await closed.wait()
            for task in tasks:
                task.cancel()

    def _accept(self, closed: asyncio.Event) -> None:
        """Take over the connections that wait in the inbox."""
        while True:
            try:
                text, clients, _, _ = socket.recv_fds(
                    self._inbox, MAX_MESSAGE_BYTES, maxfds=1
                )
            except BlockingIOError:
                return
            if not text:
                closed.set()
                return
            for client in clients:
                # A reference keeps the task until it ends.
                task = asyncio.create_task(
                    self._start(socket.socket(fileno=client), decode(text))
                )
                self._opening.add(task)
                task.add_done_callback(self._opening.discard)

    async def _start(self, client: socket.socket, request: StreamRequest) -> None:
        try:
            stream = await self._open.open(client, request)
        except OSError:  # the client has left
            client.close()
            return
        if not stream.is_open:
            return
        topic = self._events if request.topic is Topic.EVENTS else self._games
        topic.add(stream)


def serve(inbox: socket.socket) -> None:
    """Serve streams until the other end of the socket is closed."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    asyncio.run(StreamProcess(inbox).run())
