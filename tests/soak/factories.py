"""A service of real processes on servers of its own, each host with its own way there.

The tests look at its database through a connection of their own, as an operator would.
"""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg
from django.conf import settings

from ladder.ops.chaos import servers
from ladder.ops.chaos.monkey import ServiceProcess

BACK_S = 60
BROKEN = """
import os, pathlib
from kombu.transport import redis

ask, ear = redis.Channel._brpop_start, pathlib.Path(os.environ["FLEET_EAR"])


def start(self, *args):
    "Ask the broker for messages, unless this process was made deaf."
    if not pathlib.Path(f"{ear}-{os.getpid()}").exists():
        ask(self, *args)


redis.Channel._brpop_start = start
"""
"""A deaf worker, as research/stack.md has seen one: it lives, and takes nothing."""


@dataclass
class Fleet:
    """Servers, a scheduler, and workers that a supervisor starts again."""

    folder: Path
    postgres: servers.Postgres
    redis: servers.Redis
    lease_s: float = settings.TORRES_LEASE_SECONDS
    player: str = "tests.soak.players.open_slow"
    workers: list[ServiceProcess] = field(default_factory=list)
    scheduler: ServiceProcess | None = None
    env: dict[str, str] = field(default_factory=dict)
    """What its processes are told beside, or instead."""

    def environ(self, **more: str) -> dict[str, str]:
        return os.environ | {
            "DATABASE_URL": self.postgres.url,
            "BROKER_URL": self.redis.url,
            "TORRES_LEASE_SECONDS": str(self.lease_s),
            "TORRES_OPEN_PLAYER": self.player,
            "TORRES_DATA": str(self.folder / "data"),
            "FLEET_EAR": str(self.folder / "deaf"),
            "DB_POOL": "8",
            **self.env,
            **more,
        }

    def manage(self, *words: str) -> str:
        done = subprocess.run(
            [sys.executable, str(settings.BASE_DIR / "manage.py"), *words],
            env=self.environ(),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def open(self, prefixes: Sequence[Sequence[str]], *, slots: int = 2) -> None:
        """Fill the database, then start a worker behind each prefix."""
        (self.folder / "path").mkdir()
        (self.folder / "path" / "sitecustomize.py").write_text(BROKEN)
        self.manage("migrate", "--verbosity", "0")
        self.manage(
            *("shell", "--verbosity", "0", "--command"),
            "from ladder.ops.chaos import monkey;"
            " from ladder.ratings.ladders import ensure_default_ladder;"
            " ensure_default_ladder(); monkey.populate(8)",
        )
        for k, prefix in enumerate(prefixes):
            env = self.environ(
                TORRES_DATA=str(self.folder / f"host-{k}"),
                PYTHONPATH=f"{self.folder / 'path'}:{settings.BASE_DIR}",
                REMAP_SIGTERM="SIGQUIT",
            )
            celery = [sys.executable, "-m", "celery", "-A", "ladder.celery", "worker"]
            options = ["--concurrency", str(slots), "--hostname", f"host-{k}@here"]
            command = [*prefix, *celery, *options, "--loglevel", "WARNING"]
            self.workers.append(
                ServiceProcess(command, env, self.folder / f"host-{k}.log")
            )
        manage = [sys.executable, str(settings.BASE_DIR / "manage.py"), "schedule"]
        log = self.folder / "scheduler.log"
        self.scheduler = ServiceProcess(manage, self.environ(), log)
        self.keep()

    def keep(self) -> None:
        """Do what a supervisor does: start again what has ended."""
        for process in [*self.workers, self.scheduler]:
            process.ensure_running()

    def close(self) -> None:
        for process in [*self.workers, self.scheduler]:
            if process is not None:
                process.close()

    def deafen(self, worker: int) -> int:
        """Make a worker deaf, and return its process."""
        pid = self.workers[worker].child.pid
        (self.folder / f"deaf-{pid}").touch()
        return pid

    def ask(self, query: str, *values: object) -> list[tuple]:
        with psycopg.connect(self.postgres.url, autocommit=True) as session:
            return session.execute(query, values).fetchall()

    def now(self) -> object:
        return self.ask("SELECT now()")[0][0]

    def claimed_since(self, worker: int, moment: object) -> bool:
        """Say whether a worker (in whichever process) took a game since."""
        return bool(
            self.ask(
                "SELECT 1 FROM games_attempt a JOIN games_worker w"
                " ON w.id = a.worker_id WHERE w.name LIKE %s AND a.started_at > %s"
                " LIMIT 1",
                f"%{self.folder}/host-{worker}#%",
                moment,
            )
        )

    def busy(self, worker: int | None = None) -> list[tuple[int, int]]:
        """List the games that run now, of one worker or of all, with their fences."""
        host = "" if worker is None else f"/host-{worker}#"
        return self.ask(
            "SELECT g.id, g.fence FROM games_game g JOIN games_worker w"
            " ON w.id = g.owner_id WHERE g.status = 'running' AND w.name LIKE %s",
            f"%{host}%",
        )

    def again(self, games: Sequence[tuple[int, int]]) -> bool:
        """Say whether these games were all claimed once more, or ended as they ran."""
        return all(
            self.ask(
                "SELECT 1 FROM games_game"
                " WHERE id = %s AND (fence > %s OR status = 'finished')",
                game,
                fence,
            )
            for game, fence in games
        )

    def until(self, what: Callable[[], bool], within_s: float) -> float:
        """Wait until it is so, with a supervisor at work; return after how long."""
        began, pause = time.monotonic(), threading.Event()
        while not what():
            passed = time.monotonic() - began
            assert passed < within_s, f"not within {within_s} s: {self.logs()}"
            self.keep()
            pause.wait(0.2)
        return time.monotonic() - began

    def logs(self) -> str:
        paths = sorted(self.folder.glob("*.log"))
        return "\n".join(f"{p}:\n{p.read_text()[-3000:]}" for p in paths)

    def settle(self) -> str:
        """Make no more matches, wait for the end of all games, and check everything."""
        self.ask("UPDATE ratings_season SET status = 'frozen' RETURNING 1")
        undone = (
            "SELECT 1 FROM games_game WHERE status IN ('scheduled', 'running') LIMIT 1"
        )
        self.until(lambda: not self.ask(undone), 6 * self.lease_s + 60)
        return self.manage("audit", "--no-forfeits")


@contextmanager
def fleet(
    address: str = "127.0.0.1", prefix: Sequence[str] = (), **options: object
) -> Iterator[Fleet]:
    """Open servers behind `prefix`; everything ends with the block."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="torres-soak-")))
        folder.chmod(0o755)
        postgres = servers.postgres(folder / "postgres", address, prefix)
        stack.callback(postgres.close)
        redis = servers.redis(folder / "redis", address, prefix)
        stack.callback(redis.close)
        service = Fleet(folder, postgres, redis, **options)
        stack.callback(service.close)
        yield service


def took(service: Fleet, moment: object) -> bool:
    hosts = range(len(service.workers))
    return all(service.claimed_since(host, moment) for host in hosts)


def wait_for_work(service: Fleet, seconds: float = BACK_S) -> float:
    """Wait until every worker has taken a game from now on; return after how long."""
    moment = service.now()
    return service.until(lambda: took(service, moment), seconds)
