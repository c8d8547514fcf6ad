"""A service of the first days with 10,000 games is upgraded from its dump.

The first version is installed from the history of this repository. Its own dispatcher
and workers play the games, with scripted players, and its own command audits them. The
dump is upgraded, plays on, and the present command audits the whole. Each command meets
the other service.
tests/stability/test_upgrade.py upgrades 46 games of real bots, and audits them.
"""

import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import psycopg
import pytest
from django.conf import settings

from ladder.ops.chaos.monkey import ServiceProcess
from ladder.ops.programs import find_program
from tests import servers
from torres.common.pause import pause

FIRST = "33c3063f"
"""The commit of tests/stability/first.tar.xz: no app had a second migration."""
GAMES = int(os.environ.get("TESTS_GAMES", "10000"))
MORE = 200
BOTS = 24
SAMPLE = 50
PROGRESS_S = 30
START_S = 60
POPULATE = """\
from django.db import transaction
from ladder.bots.facts import record_upload
from ladder.bots.models import Submission
from ladder.ops.chaos import monkey
from ladder.ratings.ladders import ensure_default_ladder
ensure_default_ladder()
with transaction.atomic():
    monkey.populate({bots})
    for submission in Submission.objects.order_by("pk"):
        record_upload(submission)
"""
"""Scripted players need no archives, but the log has to have their uploads."""
FINISHED = "SELECT count(*) FROM games_game WHERE status = 'finished'"
UNRATED = f"""{FINISHED} AND NOT EXISTS
    (SELECT 1 FROM ratings_entry e WHERE e.game_id = games_game.id)"""
UNLOGGED = """SELECT count(*) FROM events_fact WHERE leaf_kind <> '' AND
    COALESCE(number > (SELECT last_fact FROM public_log_loghead), true)"""
KEPT = {
    "games": "id, status, finished_at, reason, md5(replay) FROM games_game",
    "seats": "id, game_id, number, score, rank, fault FROM games_seat",
    "ledger": "id, seq, kind, inputs::text, changes::text FROM ratings_entry",
    "ratings": "id, mu, sigma, games FROM ratings_rating",
    "log": "number, kind, subject, md5(hash), md5(text) FROM public_log_logleaf",
}
"""What an upgrade keeps, as a query on the database before and after."""


@dataclass
class Version:
    """A version of the service and of the command; all share the data folder."""

    tree: Path
    python: Path
    folder: Path
    redis: servers.Redis
    database: str
    parts: list[ServiceProcess] = field(default_factory=list)

    @property
    def environ(self) -> dict[str, str]:
        # The first version refuses settings that came later.
        inherited = {k: v for k, v in os.environ.items() if not k.startswith("TORRES_")}
        return inherited | {
            "DATABASE_URL": self.database,
            "BROKER_URL": self.redis.url,
            "TORRES_DATA": str(self.folder / "data"),
            "TORRES_RATE_ANONYMOUS": "100000000",
            "XDG_STATE_HOME": str(self.folder / "state"),
            "PYTHONPATH": str(self.tree),
        }

    def attempt(self, *words: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            list(map(str, words)),
            cwd=self.tree,
            env=self.environ,
            capture_output=True,
            text=True,
            check=False,
        )

    def manage(self, *words: object) -> str:
        """Run a command of the service, which has to succeed."""
        done = self.attempt(self.python, "manage.py", *words)
        assert done.returncode == 0, (words, done.stdout[-2000:], done.stderr[-2000:])
        return done.stdout

    def torres(self, *words: object) -> subprocess.CompletedProcess[str]:
        return self.attempt(self.python.with_name("torres"), *words)

    def start(self, name: str, *words: str) -> None:
        """Start a process of the service; it ends with the block `running`."""
        command = ["env", f"--chdir={self.tree}", str(self.python), *words]
        part = ServiceProcess(command, self.environ, self.folder / f"{name}.log")
        part.ensure_running()
        self.parts.append(part)

    @contextmanager
    def playing(self) -> Iterator[None]:
        """Run a dispatcher and a worker with scripted players."""
        app = ("-m", "celery", "-A", "ladder.ops.chaos.celery", "worker")
        self.start("dispatcher", "manage.py", "schedule")
        self.start("worker", *app, "--concurrency", "2", "--loglevel", "WARNING")
        try:
            yield
        finally:
            self.stop()

    @contextmanager
    def serving(self) -> Iterator[str]:
        """Run a web server, and yield its address."""
        listen = f"127.0.0.1:{servers.free_port()}"
        self.start("web", "manage.py", "serve", "--listen", listen)
        address = f"http://{listen}"
        end = time.monotonic() + START_S
        while not answers(address):
            assert time.monotonic() < end, (self.folder / "web.log").read_text()[-2000:]
            pause(0.5)
        try:
            yield address
        finally:
            self.stop()

    def stop(self) -> None:
        while self.parts:
            self.parts.pop().close()

    def play(self, games: int) -> None:
        """Play until so many more games have finished."""
        began, shown = time.monotonic(), 0.0
        with self.playing(), psycopg.connect(self.database, autocommit=True) as rows:
            wanted = rows.execute(FINISHED).fetchone()[0] + games
            while (finished := rows.execute(FINISHED).fetchone()[0]) < wanted:
                elapsed = time.monotonic() - began
                if elapsed > shown + PROGRESS_S:
                    shown = elapsed
                    print(f"{finished} of {wanted} games, {elapsed:.0f} s", flush=True)
                pause(1.0)
            self.parts.pop().close()  # the worker; the dispatcher rates its last games
            for left in (UNRATED, UNLOGGED):
                while rows.execute(left).fetchone()[0]:
                    pause(0.5)

    def kept(self) -> dict[str, list[tuple[object, ...]]]:
        """Return the rows that an upgrade has to keep, by what they are."""
        with psycopg.connect(self.database) as database:
            return {
                name: sorted(database.execute(f"SELECT {rest}").fetchall(), key=repr)
                for name, rest in KEPT.items()
            }


def answers(address: str) -> bool:
    try:
        return httpx.get(f"{address}/healthz").status_code == httpx.codes.OK
    except httpx.TransportError:
        return False


def installed_first(folder: Path) -> Path:
    """Install the first version, and return its folder."""
    tree, here = folder / "first", settings.BASE_DIR
    known = subprocess.run(["git", "cat-file", "-e", FIRST], cwd=here, check=False)
    if known.returncode != 0:
        pytest.skip(f"this clone has no commit {FIRST}; fetch the whole history")
    for words in (
        ["git", "clone", "--quiet", "--no-checkout", here, tree],
        ["git", "-C", tree, "checkout", "--quiet", FIRST],
        ["make", "--silent", "-C", tree, "install"],
    ):
        subprocess.run(words, check=True)
    return tree


def restored(postgres: servers.Postgres, folder: Path) -> str:
    """Dump the database, restore it as another one, and return its address."""
    dump = folder / "dump.sql"
    program = find_program("pg_dump")
    subprocess.run([program, "--file", dump, postgres.url], check=True)
    print(f"dump of {dump.stat().st_size / 1e6:.0f} MB")
    copy = f"{postgres.url.rpartition('/')[0]}/upgraded"
    with psycopg.connect(postgres.url, autocommit=True) as database:
        database.execute("CREATE DATABASE upgraded")
    words = [find_program("psql"), "--quiet", "--set", "ON_ERROR_STOP=1"]
    subprocess.run([*words, "--output", "/dev/null", "--file", dump, copy], check=True)
    return copy


@pytest.fixture
def versions(tmp_path: Path) -> Iterator[tuple[Version, Version, servers.Postgres]]:
    """Yield the first and the present version, and their server of databases."""
    for folder in (tmp_path, *tmp_path.parents[:3]):
        folder.chmod(0o755)  # PostgreSQL runs as another user
    tree = installed_first(tmp_path)
    with ExitStack() as stack:
        postgres = servers.postgres(tmp_path / "postgres")
        stack.callback(postgres.close)
        redis = servers.redis(tmp_path / "redis")
        stack.callback(redis.close)
        first = Version(tree, tree / ".venv/bin/python", tmp_path, redis, postgres.url)
        present = Version(
            settings.BASE_DIR, Path(sys.executable), tmp_path, redis, postgres.url
        )
        stack.callback(first.stop)
        stack.callback(present.stop)
        yield first, present, postgres


def test_ten_thousand_games_survive_the_upgrade(
    versions: tuple[Version, Version, servers.Postgres], tmp_path: Path
) -> None:
    first, present, postgres = versions
    first.manage("migrate", "--verbosity", "0")
    first.manage("shell", "--command", POPULATE.format(bots=BOTS))
    first.play(GAMES)
    with first.serving() as address:
        audit(first, address, tmp_path)
        # The error names the command that compares the versions.
        for words in (["leaderboard", "--ladder", address], ["audit", address]):
            done = present.torres(*words)
            assert done.returncode == 2, done.stdout
            assert "torres self-check" in done.stderr
        assert "commit" in present.torres("self-check", "--ladder", address).stdout

    before = first.kept()
    print({name: len(rows) for name, rows in before.items()})
    present.database = restored(postgres, tmp_path)
    present.manage("prepare")
    assert present.kept() == before
    present.play(MORE)
    checks = present.manage("rebuild_ratings", "--check")
    assert "all ratings the same, every finished game rated once" in checks
    assert "The totals add up." in present.manage("status", "--totals")
    with present.serving() as address:
        audit(present, address, tmp_path)
        replays_are_there(address, before["games"])
        shown = first.torres("leaderboard", "--ladder", address)
        assert shown.returncode == 0, shown.stderr


def audit(version: Version, address: str, folder: Path) -> None:
    done = version.torres("audit", address, "--folder", folder / "auditor")
    assert done.returncode == 0, done.stdout + done.stderr
    print(done.stdout)


def replays_are_there(address: str, games: Sequence[tuple[object, ...]]) -> None:
    finished = [row[0] for row in games if row[1] == "finished"]
    for number in random.Random(1).sample(finished, SAMPLE):
        replay = httpx.get(f"{address}/api/v1/games/{number}/replay/")
        assert replay.json()["format"] == "torres-replay/1", number
