"""One author uploads five bots that attack the ladder; ten honest authors play on.

`TESTS_HOSTILE_MINUTES` is the length of the run with the five bots (default 10). The
run without them, to which it is compared, takes half as long.
"""

import io
import os
import sqlite3
import subprocess
import sys
import threading
import time
import zipfile
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest
from django.conf import settings

MINUTES = float(os.environ.get("TESTS_HOSTILE_MINUTES", "10"))
MIN_SHARE_KEPT = 0.95
READY_TIMEOUT_S = 300
STOP_TIMEOUT_S = 90
MANAGE_PY = [sys.executable, str(settings.BASE_DIR / "manage.py")]
HOUSE = settings.BASE_DIR / "torres" / "house"
MEMBERS = (
    "SELECT b.slug, m.status FROM ratings_membership m"
    " JOIN bots_bot b ON b.id = m.bot_id"
)
HONEST = {
    f"honest-{k}": HOUSE / name / "bot.py"
    for k, name in enumerate(["random", "greedy", "climber", "banker"] * 2)
} | {f"honest-{k}": HOUSE / "greedy" / "bot.py" for k in (8, 9)}

LOOP = """\
import json, os, signal, sys, time

# It always plays the first legal action, and has about 20 points then. So an opponent
# with many more points is not another copy of it: this is no validation.
def far_behind(message):
    scores = message["state"]["scores"]
    return max(scores) > scores[seat] + 25

def behind(message):
    return message["state"]["phase"] == 3 and far_behind(message)

def out(line):
    sys.stdout.buffer.write(line.encode() + b"\\n")
    sys.stdout.buffer.flush()

def children(count, ms):
    for _ in range(count):
        if os.fork() == 0:
            end = time.process_time() + ms / 1000
            while time.process_time() < end:
                pass
            os._exit(0)
    for _ in range(count):
        os.wait()

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        seat = message["seat"]
        out('{"type":"ready"}')
    elif message["type"] == "decide":
        attack(message)
        out('{"index":0}')
    elif message["type"] == "end":
        break
"""
# Each bot passes its validation, because its attack waits for a strong opponent: in a
# validation it plays against itself.
ATTACKS = {
    "nonsense": """\
def attack(message):
    if behind(message):
        out(json.dumps({"actions": ["é" * 30_000]}, ensure_ascii=False))
""",
    "machine": """\
def attack(message):
    while behind(message):
        children(12, 4)
        time.sleep(0.7)
""",
    "stretch": """\
def attack(message):
    while behind(message):
        children(8, 2)
        time.sleep(0.3)
""",
    "trial": """\
def attack(message):
    if far_behind(message):
        out("no answer")
""",
    "suicide": """\
def attack(message):
    if behind(message):
        os.kill(os.getpid(), signal.SIGKILL)
""",
}


def hostile(attack: str) -> bytes:
    head, loop = LOOP.split("for line in sys.stdin:")
    return f"{head}{attack}\nfor line in sys.stdin:{loop}".encode()


def packed(source: bytes) -> bytes:
    packet = io.BytesIO()
    with zipfile.ZipFile(packet, "w") as archive:
        archive.writestr("bot.py", source)
    return packet.getvalue()


@dataclass
class LadderFigures:
    """The counts of one run."""

    statuses: Counter[str] = field(default_factory=Counter)
    """Games by status."""
    seats: Counter[str] = field(default_factory=Counter)
    """Seats by bot in all attempts that ended, also in the failed ones."""
    attempts_failed: Counter[str] = field(default_factory=Counter)
    """Failed attempts by their reason, shortened."""
    faults: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Forfeits by bot and reason."""
    bots: dict[str, str] = field(default_factory=dict)
    """The status of each bot on the ladder."""

    def honest_share(self) -> float:
        """Return the share of all seats that the honest bots had."""
        honest = sum(self.seats[name] for name in HONEST)
        return honest / max(1, self.seats.total())

    def honest_seats_per_minute(self, minutes: float) -> float:
        return sum(self.seats[name] for name in HONEST) / minutes


class AttackedLadder:
    """`manage.py up` with a data folder of its own, used through its REST API."""

    def __init__(self, folder: Path) -> None:
        self.data = folder / "data"
        self.env = os.environ | {
            "TORRES_DATA": str(self.data),
            "PYTHONPATH": str(settings.BASE_DIR),
            "TORRES_COMPARISON_SLOTS": "1",
        }
        for name in ("DATABASE_URL", "BROKER_URL"):
            self.env.pop(name, None)
        self.output = folder / "service.out"
        self.log = folder / "service.log"
        with self.output.open("w") as output, self.log.open("w") as log:
            self.child = subprocess.Popen(
                [*MANAGE_PY, "up", "--port", "0"],
                env=self.env,
                stdout=output,
                stderr=log,
            )
        self.pause = threading.Event()
        deadline = time.monotonic() + READY_TIMEOUT_S
        while "LADDER=" not in self.output.read_text():
            assert time.monotonic() < deadline, self.log.read_text()[-3000:]
            self.pause.wait(0.1)
        words = self.output.read_text().split("LADDER=")[1]
        self.address = words.splitlines()[0]

    def query(self, sql: str) -> list[tuple]:
        with closing(sqlite3.connect(self.data / "ladder.db", timeout=30)) as session:
            return session.execute(sql).fetchall()

    def manage(self, *words: str) -> str:
        return subprocess.run(
            [*MANAGE_PY, *words],
            env=self.env,
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    def token(self, owner: str, *scopes: str) -> str:
        options = [word for scope in scopes for word in ("--scope", scope)]
        return self.manage("token", owner, *options).split()[-1]

    def api(self, owner: str) -> httpx.Client:
        head = {"Authorization": f"Bearer {self.token(owner)}"}
        base = f"{self.address}/api/v1/"
        return httpx.Client(base_url=base, headers=head, timeout=60)

    def upload(self, owner: str, bots: dict[str, bytes]) -> None:
        with self.api(owner) as api:
            for name, source in bots.items():
                made = api.post("bots/", json={"name": name})
                assert made.status_code == 201, made.text
                files = {"archive": ("bot.zip", packed(source))}
                sent = api.post(f"bots/{name}/submissions/", files=files)
                assert sent.status_code == 202, sent.text

    def wait_until_validated(self) -> None:
        deadline = time.monotonic() + READY_TIMEOUT_S
        waiting = (
            "SELECT b.slug, s.status, s.report FROM bots_submission s"
            " JOIN bots_bot b ON b.id = s.bot_id WHERE s.status NOT IN"
            " ('ready', 'retired', 'rejected')"
        )
        while rows := self.query(waiting):
            assert time.monotonic() < deadline, rows
            self.pause.wait(0.5)

    def figures(self) -> LadderFigures:
        seats = (
            "FROM games_seat s JOIN games_game g ON g.id = s.game_id"
            " JOIN bots_submission u ON u.id = s.submission_id"
            " JOIN bots_bot b ON b.id = u.bot_id WHERE g.status = 'finished'"
        )
        tries = (
            "FROM games_attempt a JOIN games_seat s ON s.game_id = a.game_id"
            " JOIN bots_submission u ON u.id = s.submission_id"
            " JOIN bots_bot b ON b.id = u.bot_id"
            " WHERE a.outcome IN ('finished', 'failed')"
        )
        statuses = self.query("SELECT status FROM games_game")
        reasons = self.query("SELECT reason FROM games_attempt WHERE outcome='failed'")
        return LadderFigures(
            Counter(status for (status,) in statuses),
            Counter(slug for (slug,) in self.query(f"SELECT b.slug {tries}")),
            Counter(reason[:100] for (reason,) in reasons),
            Counter(self.query(f"SELECT b.slug, s.fault {seats} AND s.fault != ''")),
            dict(self.query(MEMBERS)),
        )

    def close(self) -> None:
        self.child.terminate()
        try:
            self.child.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()


def run(folder: Path, minutes: float, *, attacked: bool) -> LadderFigures:
    """Play for some minutes, counted from the end of all validations."""
    ladder = AttackedLadder(folder)
    try:
        for name, source in HONEST.items():
            ladder.upload(f"owner-of-{name}", {name: source.read_bytes()})
        if attacked:
            bots = {name: hostile(attack) for name, attack in ATTACKS.items()}
            ladder.upload("mallory", bots)
        ladder.wait_until_validated()
        ladder.pause.wait(minutes * 60)
        figures = ladder.figures()
    finally:
        ladder.close()
    print(f"\n{'with' if attacked else 'without'} the five bots, {minutes} minutes:")
    print(f"  games: {dict(figures.statuses)}")
    print(f"  seats: {dict(figures.seats.most_common())}")
    print(f"  failed attempts: {dict(figures.attempts_failed.most_common())}")
    print(f"  forfeits: {dict(figures.faults)}")
    print(f"  bots: { {name: figures.bots.get(name) for name in ATTACKS} }")
    print(f"  honest share of the seats: {figures.honest_share():.3f}")
    per_minute = figures.honest_seats_per_minute(minutes)
    print(f"  honest seats a minute: {per_minute:.1f}")
    return figures


@pytest.mark.sandbox
@pytest.mark.skipif(os.geteuid() != 0, reason="level full needs root here")
def test_a_hostile_author_gains_nothing_and_harms_nobody(tmp_path: Path) -> None:
    for path in (tmp_path, *tmp_path.parents[:3]):
        path.chmod(0o755)  # bots read copies in it
    (tmp_path / "without").mkdir()
    (tmp_path / "with").mkdir()
    before = run(tmp_path / "without", MINUTES / 2, attacked=False)

    after = run(tmp_path / "with", MINUTES, attacked=True)

    forfeited = {bot for bot, _ in after.faults}
    problems = []
    if after.statuses["dead"]:
        problems.append(f"{after.statuses['dead']} dead games")
    problems += [f"{name} never forfeited" for name in ATTACKS if name not in forfeited]
    problems += [
        f"{name} is {after.bots.get(name)}, not benched"
        for name in ATTACKS
        if after.bots.get(name) != "benched"
    ]
    problems += [f"{name} forfeited" for name in HONEST if name in forfeited]
    if after.honest_share() < MIN_SHARE_KEPT * before.honest_share():
        problems.append(
            f"the honest share fell from {before.honest_share():.3f}"
            f" to {after.honest_share():.3f}"
        )
    assert problems == []
