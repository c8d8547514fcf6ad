"""Ten honest authors and ten hostile ones use one machine for an hour.

Six hostile bots break games when they are behind. Four others only sleep, in
tournaments with the highest limits and in comparisons, and are uploaded without end.
Visitors without an account ask for the most expensive pages and for streams.

`TESTS_HOSTILE_MINUTES` is the length of the run with them (60 if it is not set). The
run without them, to which it is compared, takes a third of that.
"""

import itertools
import os
import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import quantiles

import httpx
import pytest

from tests.soak.test_hostile_author import (
    ATTACKS,
    HONEST,
    AttackedLadder,
    hostile,
)

pytestmark = pytest.mark.sandbox
MINUTES = float(os.environ.get("TESTS_HOSTILE_MINUTES", "60"))
LADDER_SHARE = 0.5
"""What ladders keep of the slots while others ask for them (TORRES_LADDER_SHARE)."""
MIN_OF_ENTITLEMENT = 0.9
GAMES_UNTIL_BENCHED = 30
MAX_P99_S = 1.0
MAX_LOST_TAU = 0.1
SLEEPER = """\
import json, sys, time
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"ready"}', flush=True)
    elif message["type"] == "decide":
        if max(message["state"]["scores"]) > 25:
            time.sleep(0.9 * message["move_ms"] / 1000)
        print('{"index":0}', flush=True)
    elif message["type"] == "end":
        break
"""
MULLIGAN = """\
def attack(message):
    if behind(message):
        os._exit(137)
"""
READ_PAGES = ("/", "/ladders/main/", "/games/", "/bots/honest-1/", "/tournaments/")
EXPENSIVE_PAGES = (
    *("/docs/?q=castle+king+knight", "/api/schema/", "/api/v1/games/?limit=200"),
    *("/ladders/main/", "/games/?bot=honest-1", "/ladders/"),
)
STREAM = {"Accept": "text/event-stream"}
STRENGTHS = {"random": 0, "climber": 1, "greedy": 2, "banker": 2}


@dataclass
class RepeatedRequests:
    """Threads that each repeat one request. An address of its own is for each."""

    address: str
    seconds: list[float] = field(default_factory=list)
    """How long the pages of the honest reader took."""
    answers: Counter[tuple[str, int]] = field(default_factory=Counter)
    """Answers by the name of the act and the status code; 0 is none."""

    def __post_init__(self) -> None:
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []
        self._hosts = itertools.count(2)

    def repeat(self, name: str, act: Callable[[httpx.Client], int], pause_s: float):
        source = f"127.0.0.{next(self._hosts)}"

        def run() -> None:
            transport = httpx.HTTPTransport(local_address=source)
            with httpx.Client(
                base_url=self.address, transport=transport, timeout=30
            ) as client:
                while not self._stop.wait(pause_s):
                    try:
                        self.answers[name, act(client)] += 1
                    except httpx.HTTPError:
                        self.answers[name, 0] += 1

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        self._threads.append(thread)

    def read(self, client: httpx.Client) -> int:
        began = time.monotonic()
        answer = client.get(random.choice(READ_PAGES))
        self.seconds.append(time.monotonic() - began)
        return answer.status_code

    def close(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(60)


@dataclass
class Hour:
    """The figures of one run."""

    honest_games_per_minute: float
    tau: float
    p99_s: float
    games_until_benched: dict[str, int | None]
    forfeits: Counter[str]
    answers: Counter[tuple[str, int]]
    games: Counter[str]


def test_hostile_authors_take_no_more_than_their_share(tmp_path: Path) -> None:
    for path in (tmp_path, *tmp_path.parents[:3]):
        path.chmod(0o755)  # bots read copies in it
    before = run(tmp_path / "without", MINUTES / 3, attacked=False)
    after = run(tmp_path / "with", MINUTES, attacked=True)

    entitled = LADDER_SHARE * before.honest_games_per_minute
    problems = [f"{bot} forfeited" for bot in HONEST if after.forfeits[bot]]
    problems += [
        f"{bot} was benched after {games} games"
        for bot, games in after.games_until_benched.items()
        if games is None or games > GAMES_UNTIL_BENCHED
    ]
    if after.honest_games_per_minute < MIN_OF_ENTITLEMENT * entitled:
        problems.append(f"{after.honest_games_per_minute:.1f} of {entitled:.1f} games")
    if after.tau < before.tau - MAX_LOST_TAU:
        problems.append(f"tau fell from {before.tau:.2f} to {after.tau:.2f}")
    if after.p99_s > MAX_P99_S:
        problems.append(f"99 % of the pages took up to {after.p99_s:.2f} s")
    assert problems == []


def run(folder: Path, minutes: float, *, attacked: bool) -> Hour:
    """Play for some minutes, counted from the end of the honest validations."""
    folder.mkdir()
    with ExitStack() as stack:
        ladder = AttackedLadder(folder)
        stack.callback(ladder.close)
        for name, source in HONEST.items():
            ladder.upload(f"owner-of-{name}", {name: source.read_bytes()})
        ladder.wait_until_validated()
        crowd = RepeatedRequests(ladder.address)
        stack.callback(crowd.close)
        crowd.repeat("read", crowd.read, 0.5)
        if attacked:
            attack(ladder, crowd)
        first = ladder.query("SELECT COALESCE(MAX(id), 0) FROM games_game")[0][0]
        ladder.pause.wait(minutes * 60)
        hour = figures(ladder, crowd, first, minutes)
    print(f"\n{'with' if attacked else 'without'} hostile users, {minutes} minutes:")
    for name, value in vars(hour).items():
        print(f"  {name}: {dict(value) if isinstance(value, dict) else value}")
    return hour


def attack(ladder: AttackedLadder, crowd: RepeatedRequests) -> None:
    """Let ten hostile authors and some visitors begin."""
    breakers = {name: hostile(source) for name, source in ATTACKS.items()}
    breakers["mulligan"] = hostile(MULLIGAN)
    for name, source in breakers.items():
        ladder.upload(f"owner-of-{name}", {name: source})
    tokens = {}
    for k in range(4):
        name = f"sleeper-{k}"
        owner = f"owner-of-{name}"
        ladder.upload(owner, {name: SLEEPER.encode()})
        tokens[name] = ladder.token(owner, "read", "submit", "organise")
    ladder.wait_until_validated()
    for name in tokens:
        with ladder.api(f"owner-of-{name}") as api:
            files = {"archive": ("bot.py", f"{SLEEPER}\n# 2\n".encode())}
            api.post(f"bots/{name}/submissions/", files=files).raise_for_status()
    ladder.wait_until_validated()
    for name in tokens:
        with ladder.api(f"owner-of-{name}") as api:
            api.post(f"ladders/main/bots/{name}/leave/").raise_for_status()
    for k in (0, 1):
        ladder.manage("operator", "organiser", f"owner-of-sleeper-{k}", "--why", "test")
        crowd.repeat("tournament", tournaments_of(tokens, f"sleeper-{k}"), 5)
        crowd.repeat("comparison", comparisons_of(tokens, f"sleeper-{k}"), 5)
    for k in (2, 3):
        crowd.repeat("upload", uploads_of(tokens, f"sleeper-{k}"), 1)
    for k in range(8):
        page = EXPENSIVE_PAGES[k % len(EXPENSIVE_PAGES)]
        crowd.repeat("flood", lambda client, page=page: client.get(page).status_code, 0)
    crowd.repeat("streams", hold_streams, 1)


def tournaments_of(tokens: dict[str, str], bot: str) -> Callable[[httpx.Client], int]:
    """Make tournaments with the highest limits, between bots that sleep."""

    def act(client: httpx.Client) -> int:
        client.headers["Authorization"] = f"Bearer {tokens[bot]}"
        document = {
            "name": "A long sleep",
            "format": "round-robin",
            "entries_per_owner": None,
            "limits": {"move_ms": 10_000, "bank_ms": 100_000, "memory_mb": 2_560},
            "entrants": [*tokens],
        }
        made = client.post("/api/v1/tournaments/", json=document)
        if made.status_code == httpx.codes.CREATED:
            place = f"/api/v1/tournaments/{made.json()['slug']}"
            for step in ("open", "close-entry", "start"):
                client.post(f"{place}/{step}/")
        return made.status_code

    return act


def comparisons_of(tokens: dict[str, str], bot: str) -> Callable[[httpx.Client], int]:
    def act(client: httpx.Client) -> int:
        client.headers["Authorization"] = f"Bearer {tokens[bot]}"
        asked = {"ladder": "main"}
        return client.post(f"/api/v1/bots/{bot}/comparisons/", json=asked).status_code

    return act


def uploads_of(tokens: dict[str, str], bot: str) -> Callable[[httpx.Client], int]:
    versions = itertools.count()

    def act(client: httpx.Client) -> int:
        client.headers["Authorization"] = f"Bearer {tokens[bot]}"
        source = f"{SLEEPER}\n# {next(versions)}\n".encode()
        files = {"archive": ("bot.py", source)}
        place = f"/api/v1/bots/{bot}/submissions/"
        return client.post(place, files=files).status_code

    return act


def hold_streams(client: httpx.Client) -> int:
    """Open streams until one is refused, and hold them for ten seconds."""
    with ExitStack() as streams:
        for _ in range(50):
            stream = client.stream("GET", "/api/v1/events/", headers=STREAM)
            status = streams.enter_context(stream).status_code
            if status != httpx.codes.OK:
                break
        threading.Event().wait(10)
    return status


def figures(
    ladder: AttackedLadder, crowd: RepeatedRequests, first: int, minutes: float
) -> Hour:
    seats = (
        " FROM games_seat s JOIN games_game g ON g.id = s.game_id"
        " JOIN games_match m ON m.id = g.match_id"
        " JOIN bots_submission u ON u.id = s.submission_id"
        " JOIN bots_bot b ON b.id = u.bot_id"
        f" WHERE m.kind = 'ladder' AND g.id > {first}"
    )
    finished = f"SELECT b.slug, COUNT(*){seats} AND g.status = 'finished' GROUP BY 1"
    played = Counter(dict(ladder.query(finished)))
    faults = f"SELECT b.slug, COUNT(*){seats} AND s.fault <> '' GROUP BY 1"
    forfeits = Counter(dict(ladder.query(faults)))
    members = dict(
        ladder.query(
            "SELECT b.slug, m.status FROM ratings_membership m"
            " JOIN bots_bot b ON b.id = m.bot_id"
        )
    )
    status = "SELECT status, COUNT(*) FROM games_game GROUP BY 1"
    crowd.seconds.append(0.0)
    crowd.seconds.append(0.0)
    return Hour(
        honest_games_per_minute=sum(played[bot] for bot in HONEST) / 2 / minutes,
        tau=tau_of(ladder),
        p99_s=quantiles(crowd.seconds, n=100)[98],
        games_until_benched={
            bot: played[bot] if members[bot] == "benched" else None
            for bot in (*ATTACKS, "mulligan")
            if bot in members
        },
        forfeits=forfeits,
        answers=crowd.answers,
        games=Counter(dict(ladder.query(status))),
    )


def tau_of(ladder: AttackedLadder) -> float:
    """Return how well the leaderboard orders the honest bots: Kendall's tau.

    Pairs of bots with the same program are left out.
    """
    rows = ladder.query(
        "SELECT b.slug, r.mu - 3 * r.sigma FROM ratings_rating r"
        " JOIN bots_bot b ON b.id = r.bot_id"
    )
    skills = {slug: skill for slug, skill in rows if slug in HONEST}
    agreeing = []
    for one, other in itertools.combinations(skills, 2):
        programs = (HONEST[bot].parent.name for bot in (one, other))
        strength, of_other = (STRENGTHS[program] for program in programs)
        expected = strength - of_other
        if expected:
            agreeing.append(1 if expected * (skills[one] - skills[other]) > 0 else -1)
    return sum(agreeing) / max(1, len(agreeing))
