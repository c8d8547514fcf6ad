"""Repeat what visitors, authors and operators do with a service."""

import itertools
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

HOUSE_BOT = Path(__file__).parents[2] / "torres/house/random/bot.py"
GOOD_BOT = HOUSE_BOT.read_text()
CRASHING_BOT = """
import os
if int.from_bytes(os.urandom(1)) < 60:
    raise SystemExit("this bot crashes now and then")
"""
BROKEN_BOT = "import no_such_module\n"
PAGES = [
    *("/", "/ladders/main/", "/bots/", "/games/", "/tournaments/", "/docs/rules/"),
    *("/api/v1/bots/", "/api/v1/games/", "/api/v1/matches/", "/api/schema/"),
    *("/api/v1/ladders/main/leaderboard/", "/games/?bot=house-greedy"),
    "/bots/house-greedy/",
]


@dataclass(slots=True)
class Author:
    """A user with a token and a bot. `source` is what is uploaded again and again."""

    token: str
    bot: str
    source: str


@dataclass
class Traffic:
    """Threads that each repeat one act, with a pause after it, until they are stopped.

    An act that fails is counted with its error, and repeated.
    """

    address: str
    authors: Sequence[Author]
    operator: str
    done: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []
        self._uploads = itertools.count()
        self._tokens = itertools.count()

    def repeat(self, act: Callable[[], None], pause_s: float) -> None:
        """Start a thread that repeats an act."""

        def run() -> None:
            while not self._stop.wait(pause_s):
                try:
                    act()
                except Exception as error:  # noqa: BLE001 -- it is counted
                    self.errors[f"{act.__name__}: {error!r:.150}"] += 1
                else:
                    self.done[act.__name__] += 1

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        self._threads.append(thread)

    def close(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(60)

    def client(self, token: str = "") -> httpx.Client:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return httpx.Client(base_url=self.address, headers=headers, timeout=60)

    def read_pages(self) -> None:
        """Read every kind of page once."""
        with self.client() as client:
            for page in PAGES:
                _ok(client.get(page))
            newest = _ok(client.get("/api/v1/games/?limit=5")).json()["results"]
            for game in newest:
                _ok(client.get(f"/games/{game['id']}/"))
                client.get(f"/api/v1/games/{game['id']}/replay/")

    def sign_in(self) -> None:
        """Sign in as an author, and read the page of the own bot."""
        author = self.authors[next(self._tokens) % len(self.authors)]
        with self.signed_in(author.token) as client:
            _ok(client.get(f"/bots/{author.bot}/"))

    @contextmanager
    def signed_in(self, token: str) -> Iterator[httpx.Client]:
        """Lend a client with a session of its own."""
        with self.client() as client:
            client.get("/sign-in/")
            answer = self.post(client, "/sign-in/", token=token)
            if answer.status_code != httpx.codes.FOUND:
                raise RuntimeError(f"sign-in: {answer.status_code}")
            yield client

    def post(self, client: httpx.Client, page: str, **fields: object) -> httpx.Response:
        data = {"csrfmiddlewaretoken": client.cookies["csrftoken"]} | fields
        return client.post(page, data=data, headers={"Referer": self.address})

    def upload(self) -> None:
        """Upload a version that plays; each third one is broken."""
        number = next(self._uploads)
        author = self.authors[number % len(self.authors)]
        source = BROKEN_BOT if number % 3 == 2 else author.source
        files = {"archive": ("bot.py", f"{source}\n# {number}\n".encode())}
        with self.client(author.token) as client:
            _ok(client.post(f"/api/v1/bots/{author.bot}/submissions/", files=files))

    def come_back(self) -> None:
        """Let the bots leave the ladder and join it again, also after a bench."""
        for author in self.authors:
            with self.client(author.token) as client:
                place = f"/api/v1/ladders/main/bots/{author.bot}"
                if author is self.authors[0]:
                    _ok(client.post(f"{place}/leave/"))
                _ok(client.post(f"{place}/join/"))

    def void(self) -> None:
        """Void the latest finished game on a page, and play it again."""
        with self.signed_in(self.operator) as client:
            games = _ok(client.get("/api/v1/games/?status=finished&limit=20")).json()
            for game in games["results"][-1:]:
                page = "/operate/void/"
                _ok(client.get(page))
                answer = self.post(client, page, target=game["id"], why="a test")
                if answer.status_code != httpx.codes.FOUND:
                    raise RuntimeError(f"void: {answer.status_code}")


def _ok(answer: httpx.Response) -> httpx.Response:
    return answer.raise_for_status()
