"""A service of real processes with its own PostgreSQL and Redis.

Each worker host may reach the servers by a way of its own. The tests read the database
through a connection of their own, as an operator would.
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

from ladder.ops.chaos.monkey import ServiceProcess
from tests import servers

INVARIANTS = 9
BACK_AT_WORK_TIMEOUT_S = 60
# Installed in each worker as sitecustomize. It makes a worker unresponsive on demand:
# the process lives but takes no more messages, as seen after outages of the broker.
UNRESPONSIVE_ON_DEMAND = """
import os, pathlib
from kombu.transport import redis

request_messages = redis.Channel._brpop_start
flag = pathlib.Path(os.environ["FLEET_UNRESPONSIVE_FLAG"])


def start(self, *args):
    "Request messages from the broker, unless there is a flag for this process."
    if not pathlib.Path(f"{flag}-{os.getpid()}").exists():
        request_messages(self, *args)


redis.Channel._brpop_start = start
"""


@dataclass
class Fleet:
    """Servers, a dispatcher, and workers that a supervisor restarts."""

    folder: Path
    postgres: servers.Postgres
    redis: servers.Redis
    lease_s: float = settings.TORRES_LEASE_SECONDS
    app: str = "tests.soak.slow_celery"
    workers: list[ServiceProcess] = field(default_factory=list)
    scheduler: ServiceProcess | None = None
    one_host: bool = False
    """True if all workers use the dispatcher's data folder, with the real uploads."""
    env: dict[str, str] = field(default_factory=dict)
    """More environment variables for its processes; they override the others."""

    def environ(self, **more: str) -> dict[str, str]:
        return os.environ | {
            "DATABASE_URL": self.postgres.url,
            "BROKER_URL": self.redis.url,
            "TORRES_LEASE_SECONDS": str(self.lease_s),
            "TORRES_DATA": str(self.folder / "data"),
            "FLEET_UNRESPONSIVE_FLAG": str(self.folder / "unresponsive"),
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

    def shell(self, *statements: str) -> None:
        """Run statements in Django's shell."""
        self.manage("shell", "--verbosity", "0", "--command", "; ".join(statements))

    def open(
        self, prefixes: Sequence[Sequence[str]], *, slots: int = 2, bots: int = 8
    ) -> None:
        """Fill the database, then start a worker with each command prefix."""
        self.manage("migrate", "--verbosity", "0")
        self.shell(
            "from ladder.ops.chaos import monkey",
            "from ladder.ratings.ladders import ensure_default_ladder",
            "ensure_default_ladder()",
            f"monkey.populate({bots})",
        )
        self.start(prefixes, slots)

    def start(self, prefixes: Sequence[Sequence[str]], slots: int = 2) -> None:
        """Start a dispatcher, and a worker with each command prefix."""
        (self.folder / "path").mkdir()
        (self.folder / "path" / "sitecustomize.py").write_text(UNRESPONSIVE_ON_DEMAND)
        for k, prefix in enumerate(prefixes):
            host = "data" if self.one_host else f"host-{k}"
            env = self.environ(
                TORRES_DATA=str(self.folder / host),
                PYTHONPATH=f"{self.folder / 'path'}:{settings.BASE_DIR}",
                REMAP_SIGTERM="SIGQUIT",
            )
            celery = [sys.executable, "-m", "celery", "-A", self.app, "worker"]
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
        """Restart processes that have ended, as a supervisor does."""
        for process in [*self.workers, self.scheduler]:
            process.ensure_running()

    def close(self) -> None:
        for process in [*self.workers, self.scheduler]:
            if process is not None:
                process.close()

    def make_unresponsive(self, worker: int) -> int:
        """Let a worker take no more messages; return its process id."""
        pid = self.workers[worker].child.pid
        (self.folder / f"unresponsive-{pid}").touch()
        return pid

    def ask(self, query: str, *values: object) -> list[tuple]:
        with psycopg.connect(self.postgres.url, autocommit=True) as session:
            return session.execute(query, values).fetchall()

    def now(self) -> object:
        return self.ask("SELECT now()")[0][0]

    def claimed_since(self, worker: int, moment: object) -> bool:
        """True if a worker claimed a game since, in any of its processes."""
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
        """List running games with their fences, of one worker or of all workers."""
        host = "" if worker is None else f"/host-{worker}#"
        return self.ask(
            "SELECT g.id, g.fence FROM games_game g JOIN games_worker w"
            " ON w.id = g.owner_id WHERE g.status = 'running' AND w.name LIKE %s",
            f"%{host}%",
        )

    def all_claimed_again(self, games: Sequence[tuple[int, int]]) -> bool:
        """True if each of these games was claimed again, or has finished."""
        return all(
            self.ask(
                "SELECT 1 FROM games_game"
                " WHERE id = %s AND (fence > %s OR status = 'finished')",
                game,
                fence,
            )
            for game, fence in games
        )

    def until(self, condition: Callable[[], bool], within_s: float) -> float:
        """Wait until a condition holds, and restart processes that end meanwhile.

        Return the waiting time in seconds. Fails after `within_s`.
        """
        started_at = time.monotonic()
        pause = threading.Event()
        while not condition():
            waited_s = time.monotonic() - started_at
            assert waited_s < within_s, f"not within {within_s} s: {self.logs()}"
            self.keep()
            pause.wait(0.2)
        return time.monotonic() - started_at

    def logs(self) -> str:
        paths = sorted(self.folder.glob("*.log"))
        return "\n".join(f"{p}:\n{p.read_text()[-3000:]}" for p in paths)

    def settle(self, *, forfeits: bool = False) -> str:
        """Stop making matches, wait until all games are rated, and audit them.

        With `forfeits`, bots may forfeit by their own fault. Return the output of
        `manage.py audit`, which fails if an invariant does not hold.
        """
        self.ask("UPDATE ratings_season SET status = 'frozen' RETURNING 1")
        open_games = (
            "SELECT 1 FROM games_game WHERE status IN ('scheduled', 'running') LIMIT 1"
        )
        self.until(lambda: not self.ask(open_games), 6 * self.lease_s + 60)
        # The rater reads a game after its end, so the audit could come too early.
        unrated_games = (
            "SELECT 1 FROM games_game g JOIN ratings_pairing p USING (match_id)"
            " WHERE g.status = 'finished' AND NOT EXISTS (SELECT 1 FROM ratings_entry e"
            " WHERE e.game_id = g.id AND e.kind = 'game') LIMIT 1"
        )
        self.until(lambda: not self.ask(unrated_games), 60)
        return self.manage("audit", *([] if forfeits else ["--no-forfeits"]))


def is_sound(report: str) -> bool:
    """True if the output of `audit --no-forfeits` or `chaos` says that all hold."""
    return report.count(": yes") == INVARIANTS


@contextmanager
def fleet(
    address: str = "127.0.0.1", prefix: Sequence[str] = (), **options: object
) -> Iterator[Fleet]:
    """Start servers with a command prefix; everything ends with the block."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="torres-soak-")))
        folder.chmod(0o755)
        postgres = servers.postgres(folder / "postgres", address, prefix, migrated=True)
        stack.callback(postgres.close)
        redis = servers.redis(folder / "redis", address, prefix)
        stack.callback(redis.close)
        service = Fleet(folder, postgres, redis, **options)
        stack.callback(service.close)
        yield service


def all_have_claimed(service: Fleet, since: object) -> bool:
    workers = range(len(service.workers))
    return all(service.claimed_since(worker, since) for worker in workers)


def wait_for_work(service: Fleet, seconds: float = BACK_AT_WORK_TIMEOUT_S) -> float:
    """Wait until every worker has claimed a game from now on; return the seconds."""
    now = service.now()
    return service.until(lambda: all_have_claimed(service, now), seconds)
