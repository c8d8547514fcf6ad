"""A crowd in one process that plays by hand, watches, or comes as guests."""

import asyncio
import json
import statistics
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from urllib.parse import urlsplit

WATCHERS = 300
GUESTS = 1000
GUEST_GAMES = 10  # TORRES_GUEST_GAMES
LIVE_STREAM = "/live/stream/"
TV_PAGE = "/tv/"
TV_RENEWAL_S = 30.0  # RENEW_MS of tv.js
PLAY_PAGE = "/play/"
GUEST_FORM = "/play/guest/"
SETTLE_S = 3.0
EVENTS = ("frames", "game.finished", "rating.changed")
POLL_INTERVAL_S = 0.7  # POLL_MS of play.js, while the bots think
THINKING_S = 3.0  # IDLE_POLL_MS of play.js


class Connection:
    """A persistent HTTP/1.1 connection. It needs less time than a client library."""

    def __init__(
        self, address: str, cookie: str = "", headers: Sequence[str] = ()
    ) -> None:
        url = urlsplit(address)
        self.host, self.port = url.hostname, url.port
        self.cookies = dict(each.split("=", 1) for each in cookie.split("; ") if each)
        self.headers = headers
        self.location = ""
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
            *([f"Cookie: {self.cookie_header}"] if self.cookies else []),
            *self.headers,
        ]
        if method == "POST":
            lines += [f"X-CSRFToken: {self.cookies.get('csrftoken', '')}"]
            lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
        writer.write("\r\n".join([*lines, "", ""]).encode() + body)
        status = int((await reader.readline()).split()[1])
        length, etag = 0, ""
        while (line := await reader.readline()) not in (b"\r\n", b""):
            name, _, value = line.decode("latin-1").partition(":")
            if name.lower() == "content-length":
                length = int(value)
            elif name.lower() == "etag":
                etag = value.strip()
            elif name.lower() == "location":
                self.location = value.strip()
            elif name.lower() == "set-cookie":
                key, _, kept = value.strip().partition(";")[0].partition("=")
                self.cookies[key] = kept
        return status, etag, await reader.readexactly(length)

    @property
    def cookie_header(self) -> str:
        return "; ".join(f"{key}={value}" for key, value in self.cookies.items())

    def close(self) -> None:
        if self.streams is not None:
            self.streams[1].transport.abort()
            self.streams = None


class Watcher(asyncio.Protocol):
    """A client of server-sent events that counts them as they come.

    To parse the messages would take more time of the machine than to send them.
    """

    def __init__(self, path: str, messages: Counter[str]) -> None:
        self.path = path
        self.messages = messages
        self.status = b""
        self.closed = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        host, port = transport.get_extra_info("peername")[:2]
        head = f"GET {self.path} HTTP/1.1\r\nHost: {host}:{port}\r\n"
        self.transport = transport
        self.transport.write(f"{head}Accept: text/event-stream\r\n\r\n".encode())

    def data_received(self, data: bytes) -> None:
        self.status = self.status or data.split(maxsplit=2)[1]
        for event in EVENTS:
            self.messages[event] += data.count(f"event: {event}\n".encode())

    def connection_lost(self, _: Exception | None) -> None:
        self.closed.set()

    def close(self) -> None:
        self.transport.abort()


def slowest_twentieth(times: list[float]) -> float:
    return statistics.quantiles(times, n=20)[-1]


@dataclass(frozen=True)
class Company:
    """The people who come, and how much slower games may be beside them.

    Each of `figures` is computed from the times of games. Guests come in the first
    seconds of a window, so for them the mean counts, which is the number of games a
    second.
    """

    max_slower: float
    figures: tuple[Callable[[list[float]], float], ...] = (
        statistics.median,
        slowest_twentieth,
    )
    people: int = 0
    streams: tuple[str, ...] = ()
    see_tv: bool = False
    guests: int = 0


AT_HOME = Company(1.10, people=10, streams=(LIVE_STREAM, "/api/v1/events/"))
AT_TV = Company(1.05, streams=(LIVE_STREAM,), see_tv=True)
GUESTS_AT_ONCE = Company(1.05, figures=(statistics.mean,), guests=GUESTS)


@dataclass
class Crowd:
    """The people and what they got."""

    address: str
    company: Company
    messages: Counter[str] = field(default_factory=Counter)
    statuses: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    answers: int = 0
    broken: int = 0
    connections: list[Connection | Watcher] = field(default_factory=list)

    def connect(self, cookie: str = "") -> Connection:
        connection = Connection(self.address, cookie)
        self.connections.append(connection)
        return connection

    async def timed(
        self, kind: str, connection: Connection, path: str, **words: object
    ) -> tuple[int, str, bytes]:
        began = time.monotonic()
        answer = None
        while answer is None:
            try:
                answer = await connection.ask(path, **words)
            except (ConnectionError, asyncio.IncompleteReadError, IndexError):
                # A browser opens a new connection, too, if the server has closed one.
                self.broken += 1
                connection.close()
        self.seconds.append(time.monotonic() - began)
        self.statuses[f"{kind} {answer[0]}"] += 1
        return answer

    async def watch(self, number: int) -> None:
        """Read a stream to the end of the window."""
        path = self.company.streams[number % len(self.company.streams)]
        await asyncio.sleep(number / WATCHERS)
        url = urlsplit(self.address)
        _, watcher = await asyncio.get_running_loop().create_connection(
            lambda: Watcher(path, self.messages), url.hostname, url.port
        )
        self.connections.append(watcher)
        await watcher.closed.wait()
        assert watcher.status == b"200"
        self.broken += 1

    async def renew_tv(self, number: int) -> None:
        """Ask for the page of Torres TV again and again, as its script does."""
        connection = self.connect()
        connection.headers = ("Accept: text/html", "Accept-Encoding: gzip")
        await asyncio.sleep(TV_RENEWAL_S * number / WATCHERS)
        while True:
            await self.timed("tv", connection, TV_PAGE)
            await asyncio.sleep(TV_RENEWAL_S)

    async def come_as_guest(self, number: int) -> None:
        """Ask for a game without an account, from an address of one's own; play it.

        A browser follows the redirect, to the game or to the page that says no.
        """
        connection = self.connect()
        address = f"10.{number >> 8}.{number & 255}.1"
        connection.headers = (f"X-Forwarded-For: {address}",)
        looked = await self.timed("look", connection, PLAY_PAGE)
        if looked[0] != HTTPStatus.OK:
            return
        await self.timed("begin", connection, GUEST_FORM, method="POST")
        page = connection.location
        if page.startswith(f"{PLAY_PAGE}?"):
            await self.timed("refused", connection, page)
        elif page:
            await self.timed("game", connection, page)
            await self.play(page, connection)

    async def play(self, game: str, connection: Connection) -> None:
        tag, asked_at, since = "", None, 0
        while True:
            path = f"{game}state.json?since={since}"
            status, tag, body = await self.timed("play", connection, path, tag=tag)
            if status == HTTPStatus.OK:
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

    async def be_there(
        self, games: list[tuple[str, str]], window_s: float
    ) -> tuple[float, float]:
        """Play and watch for one window; return its start and its end.

        It starts when all have come, because 300 new streams in a second are another
        test. Guests come when it has begun.
        """
        company = self.company
        watchers = range(WATCHERS if company.streams else 0)
        coming = [self.watch(number) for number in watchers]
        coming += [self.play(game, self.connect(cookie)) for game, cookie in games]
        if company.see_tv:
            coming += [self.renew_tv(number) for number in watchers]
        tasks = [asyncio.create_task(each) for each in coming]
        await asyncio.sleep(SETTLE_S)
        begun = time.time()
        guests = range(company.guests)
        tasks += [asyncio.create_task(self.come_as_guest(each)) for each in guests]
        await asyncio.sleep(window_s)
        window = (begun, time.time())
        for task in tasks:
            if task.done():  # a guest who was refused, or an error
                task.result()
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        while self.connections:
            self.connections.pop().close()
        return window

    def check(self, windows: int) -> None:
        """Check that all got what they came for, and that guests held their limit."""
        company = self.company
        # 1,000 guests reach the limit of connections, and a few have to come again.
        kinds = ("look", "begin", "refused", "game")
        full = sum(self.statuses.pop(f"{kind} 503", 0) for kind in kinds)
        assert full <= 0.01 * windows * company.guests
        assert not [each for each in self.statuses if each.split()[1] >= "429"]
        if company.streams:
            assert self.messages["frames"] > WATCHERS
        if company.people:
            assert self.messages["game.finished"] > WATCHERS
        if company.people or company.guests:
            assert self.answers > 0
        begun, refused = self.statuses["game 200"], self.statuses["refused 200"]
        assert begun + refused + full == windows * company.guests
        assert begun <= windows * GUEST_GAMES
