"""Streams of the events of the outbox."""

import asyncio
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable
from typing import Any

from ladder.events import stream as outbox
from ladder.web.server.streams import news
from ladder.web.server.streams.news import Reader
from ladder.web.server.streams.open_streams import EventStream, message

POLL_INTERVAL_S = 0.25
# A stream with private events ends after this time. The client comes back with its
# token, which may have been revoked meanwhile.
MAX_PERSONAL_S = 600.0

Ask = Callable[..., Awaitable[Any]]


class EventStreams:
    """Sends each event once, in order, to each stream that wants it.

    1. A new stream catches up: it reads the events after its last one, page by page,
       up to the last event that was sent to all.
    2. Then it joins those that get what is new. Nothing happens between the two, so
       that no event is missed or sent twice.
    """

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._streams: defaultdict[Reader, set[EventStream]] = defaultdict(set)
        self._last: int | None = None  # the last event that was sent to all
        self._starting: dict[asyncio.Task[None], EventStream] = {}
        self._ends: dict[EventStream, float] = {}

    def add(self, stream: EventStream) -> None:
        if stream.request.viewer.user is not None:
            self._ends[stream] = time.monotonic() + MAX_PERSONAL_S
        task = asyncio.create_task(self._start(stream))
        self._starting[task] = stream
        task.add_done_callback(self._starting.pop)

    async def follow(self) -> None:
        """Read new events and send them, for ever."""
        while True:
            await asyncio.sleep(POLL_INTERVAL_S)
            self._forget_closed()
            if self._streams:
                await self._send_new()
            elif not self._starting:
                self._last = None  # nobody needs to be told what happens now

    async def _send_new(self) -> None:
        assert self._last is not None
        rows = await self._ask(outbox.read, self._last, news.READ_AT_ONCE)
        if not rows:
            return
        self._last = rows[-1].number
        for reader, streams in self._streams.items():
            if text := reader.text(rows):
                for stream in streams:
                    stream.send(text)

    def _forget_closed(self) -> None:
        now = time.monotonic()
        for stream, end in list(self._ends.items()):
            if now >= end:
                stream.close()
            if not stream.is_open:
                del self._ends[stream]
        for reader, streams in list(self._streams.items()):
            streams.difference_update([each for each in streams if not each.is_open])
            if not streams:
                del self._streams[reader]

    async def _start(self, stream: EventStream) -> None:
        """Send what a new stream has missed, and let it join the others."""
        reader = Reader.of(stream.request)
        newest = await self._newest()
        after = stream.request.after
        if after is None:
            after = newest
        else:
            after = await self._skip_gap(stream, after, newest)
        while stream.is_open and after < (self._last or 0):
            page = await self._until_answered(outbox.read, after, news.READ_AT_ONCE)
            # Later events are sent to all soon.
            rows = [row for row in page if row.number <= (self._last or 0)]
            if not rows:
                break
            stream.send(reader.text(rows))
            after = rows[-1].number
            await stream.writable.wait()
        if stream.is_open:
            self._streams[reader].add(stream)

    async def _skip_gap(self, stream: EventStream, after: int, newest: int) -> int:
        """Tell a stream if it asks for events that are not stored.

        They were deleted, or have the numbers of another database. Return the number
        after which it can go on.
        """
        oldest = await self._until_answered(outbox.oldest)
        if oldest - 1 <= after <= newest:
            return after
        stream.send(message("gap", {"after": after, "oldest": oldest}))
        return newest if after > newest else int(oldest) - 1

    async def _newest(self) -> int:
        """Return the number after which new events are sent to all."""
        if self._last is None:
            newest = await self._until_answered(outbox.newest)
            if self._last is None:  # another stream may have asked meanwhile
                self._last = newest
        return self._last

    async def _until_answered(self, query: Callable[..., Any], *args: Any) -> Any:
        while (answer := await self._ask(query, *args)) is None:
            pass  # the database fails; `Database.run` has waited
        return answer
