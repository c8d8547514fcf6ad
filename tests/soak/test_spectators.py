"""Ten people play by hand and 300 watch streams, beside four busy workers.

Half of the watchers follow the board of the home page, the others all events.

Windows with and without these people alternate in one run of the service, so that both
kinds see the same ladder. A game counts if it was played within one window. Its time is
divided by the median of the games of the same bots in the windows without people.
"""

import asyncio
import json
import os
import sqlite3
import statistics
import subprocess
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from tests.ops.running import MANAGE_PY, environment, running_service
from tests.practice.test_practice_up import begin, sign_in

PEOPLE = 10
WATCHERS = 300
WINDOWS = 5  # of each kind
WINDOW_S = float(os.environ.get("TESTS_SPECTATOR_WINDOW_S", "60"))
WARM_UP_S = 20.0
SETTLE_S = 3.0
MAX_SLOWER = 1.10
STREAMS = ("/live/stream/", "/api/v1/events/")
EVENTS = ("frames", "game.finished", "rating.changed")
POLL_INTERVAL_S = 0.7  # POLL_MS of play.js, while the bots think
THINKING_S = 3.0  # IDLE_POLL_MS of play.js
UNIX_S = "(julianday({}) - 2440587.5) * 86400"
GAMES = f"""
    SELECT {UNIX_S.format("a.started_at")}, {UNIX_S.format("a.ended_at")},
           group_concat(b.slug, ' ')
    FROM games_attempt a
    JOIN games_seat s ON s.game_id = a.game_id
    JOIN bots_submission u ON u.id = s.submission_id
    JOIN bots_bot b ON b.id = u.bot_id
    WHERE a.outcome = 'finished' GROUP BY a.id
"""


class Connection:
    """A kept HTTP/1.1 connection, which costs less than that of a client library."""

    def __init__(
        self, address: str, cookie: str = "", headers: Sequence[str] = ()
    ) -> None:
        url = urlsplit(address)
        self.host, self.port = url.hostname, url.port
        self.cookie = cookie
        self.headers = headers
        self.streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(
        self, path: str, tag: str = "", method: str = "GET", body: bytes = b""
    ) -> tuple[int, str, bytes]:
        """Return the status, the ETag and the body of a response."""
        if self.streams is None:
            self.streams = await asyncio.open_connection(self.host, self.port)
        reader, writer = self.streams
        lines = [
            f"{method} {path} HTTP/1.1",
            f"Host: {self.host}:{self.port}",
            *([f"If-None-Match: {tag}"] if tag else []),
            *([f"Cookie: {self.cookie}"] if self.cookie else []),
            *self.headers,
        ]
        if body:
            token = self.cookie.split("csrftoken=")[1].split(";")[0]
            lines += [f"X-CSRFToken: {token}", "Content-Type: application/json"]
            lines += [f"Content-Length: {len(body)}"]
        writer.write("\r\n".join([*lines, "", ""]).encode() + body)
        status = int((await reader.readline()).split()[1])
        length, etag = 0, ""
        while (line := await reader.readline()) not in (b"\r\n", b""):
            name, _, value = line.decode("latin-1").partition(":")
            if name.lower() == "content-length":
                length = int(value)
            elif name.lower() == "etag":
                etag = value.strip()
        return status, etag, await reader.readexactly(length)

    async def open_stream(self, path: str) -> asyncio.StreamReader:
        """Ask for server-sent events; return what follows the head."""
        self.streams = await asyncio.open_connection(
            self.host, self.port, limit=1 << 22
        )
        reader, writer = self.streams
        lines = [
            f"GET {path} HTTP/1.1",
            f"Host: {self.host}:{self.port}",
            "Accept: text/event-stream",
        ]
        writer.write("\r\n".join([*lines, "", ""]).encode())
        status = int((await reader.readline()).split()[1])
        assert status == httpx.codes.OK
        while await reader.readline() != b"\r\n":
            pass
        return reader

    def close(self) -> None:
        if self.streams is not None:
            self.streams[1].transport.abort()
            self.streams = None


@dataclass
class Crowd:
    """The people and what they got."""

    address: str
    messages: Counter[str] = field(default_factory=Counter)
    statuses: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    answers: int = 0
    broken: int = 0
    connections: list[Connection] = field(default_factory=list)

    def connect(self, cookie: str = "") -> Connection:
        connection = Connection(self.address, cookie)
        self.connections.append(connection)
        return connection

    async def timed(
        self, kind: str, connection: Connection, path: str, **words: object
    ) -> tuple[int, str, bytes]:
        began = time.monotonic()
        try:
            answer = await connection.ask(path, **words)
        except (ConnectionError, asyncio.IncompleteReadError, IndexError):
            # A browser opens a new connection, too, if the server has closed one.
            self.broken += 1
            connection.close()
            answer = await connection.ask(path, **words)
        self.seconds.append(time.monotonic() - began)
        self.statuses[f"{kind} {answer[0]}"] += 1
        return answer

    async def watch(self, number: int) -> None:
        """Read a stream to the end of the window."""
        path = STREAMS[number % len(STREAMS)]
        connection = self.connect()
        await asyncio.sleep(number / WATCHERS)
        reader = await connection.open_stream(path)
        # To parse the messages would take more time of the machine than to send them.
        while data := await reader.read(1 << 16):
            for event in EVENTS:
                self.messages[event] += data.count(f"event: {event}\n".encode())
        self.broken += 1

    async def play(self, game: str, cookie: str) -> None:
        connection = self.connect(cookie)
        tag, asked_at, since = "", None, 0
        while True:
            path = f"{game}state.json?since={since}"
            status, tag, body = await self.timed("play", connection, path, tag=tag)
            if status == httpx.codes.OK:
                state = json.loads(body)
                since = state["first"] + len(state["frames"]) - 1
                question = state["question"]
                asked_at = time.monotonic() if question else None
            if asked_at and time.monotonic() - asked_at >= THINKING_S:
                answer = {"ply": question["ply"], "actions": question["legal"][-1:]}
                sent = json.dumps(answer).encode()
                await self.timed(
                    "answer", connection, f"{game}answers/", method="POST", body=sent
                )
                self.answers += 1
                asked_at = None
            await asyncio.sleep(THINKING_S if asked_at else POLL_INTERVAL_S)

    async def be_there(self, games: list[tuple[str, str]]) -> tuple[float, float]:
        """Play and watch for one window; return its start and its end.

        It starts when all have come: 300 new streams in a second are another test.
        """
        tasks = [self.watch(number) for number in range(WATCHERS)]
        tasks += [self.play(game, cookie) for game, cookie in games]
        gathered = asyncio.gather(*tasks)
        await asyncio.wait([gathered], timeout=SETTLE_S)
        begun = time.time()
        _, pending = await asyncio.wait([gathered], timeout=WINDOW_S)
        assert pending, gathered.exception()
        window = (begun, time.time())
        gathered.cancel()
        await asyncio.gather(gathered, return_exceptions=True)
        while self.connections:
            self.connections.pop().close()
        return window


def seat_people(stack: ExitStack, home: dict[str, str], address: str) -> list:
    """Let ten people sit down; return the address and the cookies of each."""
    seated = []
    for number in range(PEOPLE):
        token = subprocess.run(
            [*MANAGE_PY, "token", f"person-{number}"],
            env=home,
            check=True,
            capture_output=True,
            text=True,
        ).stdout.split()[-1]
        client = stack.enter_context(closing(sign_in(address, token)))
        cookie = "; ".join(f"{key}={value}" for key, value in client.cookies.items())
        seated.append((begin(client), cookie))
    return seated


def played(folder: Path) -> list[tuple[float, float, str]]:
    """Return the start, the end and the bots of each finished game."""
    with closing(sqlite3.connect(folder / "data" / "ladder.db", timeout=30)) as session:
        return [
            (start, end, " ".join(sorted(bots.split())))
            for start, end, bots in session.execute(GAMES)
        ]


def within(games: list, windows: list[tuple[float, float]]) -> dict[str, list[float]]:
    """Return the times of the games that lie in one of the windows, by bots."""
    found = defaultdict(list)
    for start, end, bots in games:
        if any(begin <= start and end <= finish for begin, finish in windows):
            found[bots].append(end - start)
    return found


@pytest.mark.sandbox
@pytest.mark.skipif(os.geteuid() != 0, reason="level full needs root here")
def test_people_do_not_slow_the_games_of_the_ladder(tmp_path: Path) -> None:
    for folder in (tmp_path, *tmp_path.parents[:3]):
        folder.chmod(0o755)  # bots read copies in it
    home = environment(tmp_path, TORRES_PRACTICE_SLOTS=str(PEOPLE))
    home |= {"TORRES_RATE_PAGES": "1000000", "TORRES_RATE_ANONYMOUS": "1000000"}
    quiet: list[tuple[float, float]] = []
    busy: list[tuple[float, float]] = []
    with (
        ExitStack() as stack,
        running_service(home, "--slots", "4") as (address, _),
    ):
        people = seat_people(stack, home, address)
        crowd = Crowd(address)
        pause = threading.Event()
        pause.wait(WARM_UP_S)
        for _ in range(WINDOWS):
            begun = time.time()
            pause.wait(WINDOW_S)
            quiet.append((begun, time.time()))
            busy.append(asyncio.run(crowd.be_there(people)))
        games = played(tmp_path)

    alone, beside = within(games, quiet), within(games, busy)
    usual = {bots: statistics.median(times) for bots, times in alone.items()}
    ratios = {
        name: sorted(t / usual[bots] for bots in usual for t in group.get(bots, []))
        for name, group in (("alone", alone), ("beside", beside))
    }
    middle = {name: statistics.median(each) for name, each in ratios.items()}
    tail = {name: statistics.quantiles(each, n=20)[-1] for name, each in ratios.items()}
    responses = statistics.quantiles(crowd.seconds, n=100)
    print(
        f"\ngames: { {name: len(each) for name, each in ratios.items()} };"
        f" median time {middle}; slowest twentieth {tail}\n"
        f"messages {dict(crowd.messages)}; responses {dict(crowd.statuses)},"
        f" {crowd.answers} answers by hand,"
        f" {crowd.broken} connections closed by the server;"
        f" median {responses[49] * 1000:.0f} ms, 99 % {responses[98] * 1000:.0f} ms"
    )
    assert crowd.answers > 0
    assert crowd.messages["frames"] > WATCHERS
    assert crowd.messages["game.finished"] > WATCHERS
    assert not [status for status in crowd.statuses if status.split()[1] >= "429"]
    assert middle["beside"] <= MAX_SLOWER * middle["alone"]
    assert tail["beside"] <= MAX_SLOWER * tail["alone"]
