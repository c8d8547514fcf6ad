"""Two thousand streams of events and 300 readers of pages, beside four busy players.

A tenth of the streams is cut and comes back again and again. Every stream gets every
event once and in order, from its first one on.
"""

import asyncio
import json
import os
import random
import resource
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest

from tests.ops.running import environment, running_service
from tests.soak.crowds import Connection

STREAMS = 2000
READERS = 300
WINDOW_S = float(os.environ.get("TESTS_STREAMS_WINDOW_S", "60"))
WARM_UP_S = 15.0
READ_INTERVAL_S = 2.0
CUT_INTERVAL_S = 1.0
CUT_AT_ONCE = 20
SETTLE_S = 60.0
POLL_S = 0.1
PAGES = ("/", "/games/", "/api/v1/games/?limit=20", "/ladders/", "/bots/")


@dataclass
class Listener:
    """One client of a stream, which continues after each lost connection."""

    address: str
    numbers: list[int] = field(default_factory=list)
    connection: Connection | None = None
    opened: int = 0

    async def listen(self) -> None:
        while True:
            self.connection = Connection(self.address)
            last = f"?after={self.numbers[-1]}" if self.numbers else ""
            try:
                await self.read(
                    await self.connection.open_stream(f"/api/v1/events/{last}")
                )
            except (ConnectionError, IndexError):
                await asyncio.sleep(0.1)  # cut before the head came
            finally:
                self.connection.close()

    async def read(self, reader: asyncio.StreamReader) -> None:
        self.opened += 1
        rest = b""
        while data := await reader.read(1 << 16):
            # A message counts when it has come as a whole.
            *messages, rest = (rest + data).split(b"\n\n")
            for chunk in messages:
                # In HTTP the length of a chunk stands before the first message.
                message = chunk.rpartition(b"\r\n")[2]
                if message.startswith(b"id: "):
                    self.numbers.append(int(message[4:].partition(b"\n")[0]))
                assert not message.startswith(b"event: "), message


async def cut(listeners: list[Listener]) -> None:
    """Close connections of some streams again and again, as a bad network does."""
    rng = random.Random(7)
    while True:
        await asyncio.sleep(CUT_INTERVAL_S)
        for listener in rng.sample(listeners, CUT_AT_ONCE):
            connection = listener.connection
            if connection is not None and connection.streams is not None:
                connection.streams[1].transport.abort()


async def read_pages(address: str, number: int, statuses: list[int]) -> None:
    connection = Connection(address)
    await asyncio.sleep(READ_INTERVAL_S * number / READERS)
    try:
        while True:
            try:
                status, _, _ = await connection.ask(PAGES[number % len(PAGES)])
            except (ConnectionError, asyncio.IncompleteReadError, IndexError):
                connection.close()
                continue
            statuses.append(status)
            await asyncio.sleep(READ_INTERVAL_S)
    finally:
        connection.close()


def memory_kib(name: str) -> int:
    """Return the resident memory of the process with this word in its command."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_bytes().split(b"\0")
            status = (folder / "status").read_text()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if name.encode() in command:
            return int(status.partition("VmRSS:")[2].split()[0])
    pytest.fail(f"no process {name}")


async def until(condition: Callable[[], bool]) -> None:
    while not condition():  # noqa: ASYNC110 - it depends on many tasks
        await asyncio.sleep(POLL_S)


async def crowd(address: str) -> tuple[list[Listener], list[int], int, int]:
    """Open all streams, read pages, and cut streams; then wait for the last event.

    Return the listeners, the statuses of the pages, and the memory of the web
    server in KiB, with one stream and with all.
    """
    listeners = [Listener(address) for _ in range(STREAMS)]
    statuses: list[int] = []
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(listeners[0].listen())]
        await until(lambda: bool(listeners[0].numbers))
        before = memory_kib("serve")
        for number, listener in enumerate(listeners[1:]):
            tasks.append(group.create_task(listener.listen()))
            await asyncio.sleep(POLL_S if number % 20 == 0 else 0)
        await until(lambda: all(each.opened for each in listeners))
        after = memory_kib("serve")
        guests = [group.create_task(cut(listeners[: STREAMS // 10]))]
        guests += [
            group.create_task(read_pages(address, number, statuses))
            for number in range(READERS)
        ]
        await asyncio.sleep(WINDOW_S)
        for task in guests:
            task.cancel()
        # Games go on, so an event comes after the last cut.
        async with httpx.AsyncClient(base_url=address, timeout=60) as client:
            page = (await client.get("/api/v1/events/?limit=1")).json()
        is_complete = lambda each: each.numbers and each.numbers[-1] >= page["last"]  # noqa: E731
        settled = until(lambda: all(map(is_complete, listeners)))
        await asyncio.wait_for(settled, SETTLE_S)
        for task in tasks:
            task.cancel()
    await asyncio.sleep(1)  # the loop closes the connections
    return listeners, statuses, before, after


@pytest.mark.sandbox
@pytest.mark.skipif(os.geteuid() != 0, reason="level full needs root here")
def test_every_event_arrives_once_and_in_order(tmp_path: Path) -> None:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    for folder in (tmp_path, *tmp_path.parents[:3]):
        folder.chmod(0o755)  # bots read copies in it
    home = environment(tmp_path, TORRES_MAX_STREAMS_PER_ADDRESS=str(STREAMS + 500))
    home |= {"TORRES_RATE_PAGES": "1000000", "TORRES_RATE_ANONYMOUS": "1000000"}
    with running_service(home, "--slots", "4") as (address, _):
        threading.Event().wait(WARM_UP_S)
        listeners, statuses, before, after = asyncio.run(crowd(address))
        page = {"last": 0, "newest": 1}
        public: list[int] = []
        while page["last"] < page["newest"]:
            url = f"{address}/api/v1/events/?after={page['last']}&limit=200"
            page = json.loads(httpx.get(url, timeout=60).content)
            public += [event["number"] for event in page["results"]]

    received = sum(len(listener.numbers) for listener in listeners)
    print(
        f"\n{received} messages, {len(public)} public events;"
        f" {sum(each.opened for each in listeners) - STREAMS} reconnects;"
        f" {len(statuses)} pages; memory of the web server {before} KiB with one"
        f" stream, {after} KiB with {STREAMS}:"
        f" {(after - before) / STREAMS:.1f} KiB each"
    )
    assert set(statuses) == {200}
    for listener in listeners:
        first = public.index(listener.numbers[0])
        assert listener.numbers == public[first : first + len(listener.numbers)]
