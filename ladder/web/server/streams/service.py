"""The streams of one web server.

They read what is new from the database, a few times a second for all streams together,
and send it to the streams that want it.
"""

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import structlog
from asgiref.typing import ASGIReceiveCallable, ASGISendCallable
from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection

from ladder.web.server.request_threads import RequestThreads
from ladder.web.server.streams.event_streams import EventStreams
from ladder.web.server.streams.game_streams import GameStreams
from ladder.web.server.streams.open_streams import OpenStreams
from ladder.web.server.streams.request import StreamRequest, Topic

OUTAGE_S = 2.0  # between two attempts to read from a database that fails
RESTART_INTERVAL_S = 2.0

P = ParamSpec("P")
T = TypeVar("T")
log = structlog.get_logger()


class Database:
    """Runs queries in one thread, because Django's queries block.

    The thread keeps its connection, because it asks several times a second.
    """

    def __init__(self) -> None:
        self._thread = RequestThreads("streams", 1)
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

        try:
            result = await self._thread.run(ask)
        except (DatabaseError, InterfaceError) as error:
            if self._fails:
                await asyncio.sleep(OUTAGE_S)
            else:  # a new connection may work
                log.warning("streams wait for the database", error=str(error))
            self._fails = True
            return None
        self._fails = False
        return result


class Streams:
    """Serves all streams until `close`."""

    def __init__(self) -> None:
        self._database = Database()
        self._open = OpenStreams(
            settings.TORRES_MAX_STREAMS, settings.TORRES_MAX_STREAMS_PER_ADDRESS
        )
        self._is_closed = False
        self._begin()

    def _begin(self) -> None:
        self._games = GameStreams(self._database.run)
        self._events = EventStreams(self._database.run)

    async def serve(
        self,
        request: StreamRequest,
        receive: ASGIReceiveCallable,
        send: ASGISendCallable,
        abort: Callable[[], None],
    ) -> None:
        """Serve a stream, whose head was sent, to its end. `abort` cuts it off."""
        stream = self._open.open(request, abort)
        if self._is_closed:
            stream.close()
        if stream.is_open:
            topic = self._events if request.topic is Topic.EVENTS else self._games
            topic.add(stream)
        try:
            await stream.serve(receive, send)
        finally:
            self._open.forget(stream)

    async def run(self) -> None:
        """Send what is new, for ever. After an error begin again without streams."""
        while True:
            try:
                async with asyncio.TaskGroup() as group:
                    group.create_task(self._open.keep_alive())
                    group.create_task(self._games.follow())
                    group.create_task(self._events.follow())
            except* Exception:
                log.exception("the streams failed, and their clients have to reconnect")
            self._begin()
            self._open.close()
            await asyncio.sleep(RESTART_INTERVAL_S)

    def close(self) -> None:
        """End all streams, because the server stops."""
        self._is_closed = True
        self._open.close()
