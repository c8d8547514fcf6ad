"""A small service of many processes, and everything that can happen to it.

All runs on servers of its own. Which blow comes when is drawn from a seed; what the
machine makes of it is not, and the invariants have to hold all the same.
"""

import os
import random
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import structlog
from django.conf import settings
from django.contrib.auth.models import User
from django.db import Error, connection
from django.utils import timezone

from engine.faults import EndReason, Fault
from ladder.bots.models import Bot, Submission
from ladder.celery import app
from ladder.dispatch.hints import BROKER_ERRORS
from ladder.games import attempts, services
from ladder.games.attempts import Claim, FinishedGame, SeatResult
from ladder.games.models import Attempt, Game, GameStatus
from ladder.games.tasks import play_game
from ladder.ops.chaos.servers import Postgres, Redis, mortal
from ladder.ops.chaos.tcp_proxy import TcpProxy

SLOTS = 2
APP = "ladder.ops.chaos.celery"
SKEWS = (0.0, 3600.0, -3600.0, 0.0)
"""By how many seconds the clocks of the workers are wrong, in turn."""
CLOCK = """
import os, time
wrong, right = float(os.environ["CHAOS_SKEW"]), time.time
time.time = lambda: right() + wrong
"""

log = structlog.get_logger()


@dataclass(slots=True)
class ServiceProcess:
    """A process of the service that is started again whenever it has ended.

    It ends with the thread that started it, however that ends.
    """

    command: list[str]
    env: dict[str, str]
    log: Path
    child: subprocess.Popen[bytes] | None = None
    frozen_until: float = 0.0

    def keep(self) -> None:
        if self.child is None or self.child.poll() is not None:
            with self.log.open("ab") as out:
                self.child = subprocess.Popen(
                    [*mortal(), *self.command], env=self.env, stdout=out, stderr=out
                )

    def send(self, number: signal.Signals) -> None:
        if self.child is not None and self.child.poll() is None:
            self.child.send_signal(number)

    def close(self) -> None:
        self.send(signal.SIGCONT)
        self.send(signal.SIGKILL)
        if self.child is not None:
            self.child.wait()


@dataclass(slots=True)
class ChaosService:
    """The processes, the servers, and the links of the workers to the servers."""

    folder: Path
    postgres: Postgres
    redis: Redis
    workers: list[ServiceProcess] = field(default_factory=list)
    schedulers: list[ServiceProcess] = field(default_factory=list)
    links: list[tuple[TcpProxy, TcpProxy]] = field(default_factory=list)

    def open(self, workers: int) -> None:
        clock = self.folder / "clock"
        clock.mkdir(exist_ok=True)
        (clock / "sitecustomize.py").write_text(CLOCK)
        for k in range(workers):
            self._open_worker(k, clock)
        manage = [sys.executable, str(settings.BASE_DIR / "manage.py"), "schedule"]
        for k in range(2):
            path = self.folder / f"scheduler-{k}.log"
            self.schedulers.append(ServiceProcess(manage, dict(os.environ), path))
        self.keep()

    def _open_worker(self, k: int, clock: Path) -> None:
        links = TcpProxy(self.postgres.port), TcpProxy(self.redis.port)
        for link in links:
            link.start()
        base = self.postgres.url.replace(f":{self.postgres.port}/", ":{}/")
        broker = self.redis.url.replace(f":{self.redis.port}/", ":{}/")
        env = os.environ | {
            "DATABASE_URL": base.format(links[0].port),
            "BROKER_URL": broker.format(links[1].port),
            "PYTHONPATH": f"{clock}:{settings.BASE_DIR}",
            "CHAOS_SKEW": str(SKEWS[k % len(SKEWS)]),
            "TORRES_DATA": str(self.folder / f"host-{k}"),
            "REMAP_SIGTERM": "SIGQUIT",
        }
        celery = [sys.executable, "-m", "celery", "-A", APP, "worker"]
        options = ["-P", "threads", "-c", str(SLOTS), "-n", f"worker-{k}@here"]
        quiet = ["--without-gossip", "--without-mingle", "--loglevel", "WARNING"]
        path = self.folder / f"worker-{k}.log"
        self.workers.append(ServiceProcess([*celery, *options, *quiet], env, path))
        self.links.append(links)

    def keep(self) -> None:
        for process in [*self.workers, *self.schedulers]:
            process.keep()

    def close(self) -> None:
        for process in [*self.schedulers, *self.workers]:
            process.close()
        for links in self.links:
            for link in links:
                link.close()


class Monkey:
    """Does one bad thing after the other; `tried` counts them."""

    def __init__(self, service: ChaosService, seed: int) -> None:
        self.service, self.rng = service, random.Random(seed)  # noqa: S311
        self.tried: Counter[str] = Counter()
        self._mend: list[tuple[float, Callable[[], None]]] = []
        self._now = 0.0
        self.blows: dict[Callable[[], None], int] = {
            self.kill_a_worker: 6,
            self.stop_a_worker: 2,
            self.freeze_a_worker: 3,
            self.cut_a_link: 3,
            self.kill_a_scheduler: 2,
            self.flush_redis: 2,
            self.kill_redis: 2,
            self.kill_postgres: 2,
            self.repeat_messages: 4,
            self.post_late_results: 4,
            self.void_a_game: 3,
            self.upload_a_version: 3,
        }
        self._first = self.rng.sample(list(self.blows), len(self.blows))

    def act(self, now: float) -> None:
        """Mend what was broken long enough, then break something else."""
        self._now = now
        self.mend(now)
        weights = list(self.blows.values())
        # Each kind once, then by weight: a short run leaves nothing out.
        blow = (
            self._first.pop()
            if self._first
            else self.rng.choices(list(self.blows), weights)[0]
        )
        try:
            blow()
        except (Error, *BROKER_ERRORS, OSError) as error:
            log.info("chaos met chaos", blow=blow.__name__, error=str(error))
        else:
            self.tried[blow.__name__.replace("_", " ")] += 1
        connection.close()

    def mend(self, now: float) -> None:
        """Mend what is due; with infinity, everything."""
        due = [mend for when, mend in self._mend if when <= now]
        self._mend = [(when, mend) for when, mend in self._mend if when > now]
        for mend in due:
            mend()

    def _later(self, seconds: float, mend: Callable[[], None]) -> None:
        self._mend.append((self._now + seconds, mend))

    def _any_worker(self) -> int:
        return self.rng.randrange(len(self.service.workers))

    def kill_a_worker(self) -> None:
        self.service.workers[self._any_worker()].send(signal.SIGKILL)

    def stop_a_worker(self) -> None:
        self.service.workers[self._any_worker()].send(signal.SIGTERM)

    def freeze_a_worker(self) -> None:
        """Stop the world for a worker; it wakes up long after its leases are over."""
        worker = self.service.workers[self._any_worker()]
        worker.send(signal.SIGSTOP)
        lease = settings.TORRES_LEASE_SECONDS
        span = self.rng.uniform(0.2, 2.0) * lease
        self._later(span, lambda: worker.send(signal.SIGCONT))

    def cut_a_link(self) -> None:
        links = self.rng.choice(self.service.links)
        cut = self.rng.choice([links, links[:1], links[1:]])
        for link in cut:
            link.cut()
            span = self.rng.uniform(0.2, 2.0) * settings.TORRES_LEASE_SECONDS
            self._later(span, link.mend)

    def kill_a_scheduler(self) -> None:
        self.rng.choice(self.service.schedulers).send(signal.SIGKILL)

    def flush_redis(self) -> None:
        self.service.redis.tell("FLUSHALL")

    def kill_redis(self) -> None:
        self.service.redis.kill()
        self._later(self.rng.uniform(0.0, 3.0), self.service.redis.start)

    def kill_postgres(self) -> None:
        self.service.postgres.restart()

    def repeat_messages(self) -> None:
        """Send hints for games of every state, and for none, again and again."""
        games = list(Game.objects.order_by("-pk").values_list("pk", flat=True)[:20])
        hints = [*games, 10**12] * 5
        self.rng.shuffle(hints)
        for game in hints:
            queue = self.rng.choice(["play", "again"])
            play_game.apply_async((game,), queue=queue, retry=False)

    def post_late_results(self) -> None:
        """Post results for attempts that are over: every one must be refused."""
        over = Attempt.objects.exclude(outcome__in=["open", "finished"])
        for attempt in over.order_by("-pk").select_related("game__match")[:10]:
            claim = Claim(attempt.game_id, attempt.fence, attempt.pk, attempt.worker_id)
            seats = range(attempt.game.match.seats)
            places = [
                SeatResult(seat, 999, 1, Fault.CRASH.value, "a lie") for seat in seats
            ]
            if attempts.finish(
                claim, FinishedGame(EndReason.COMPLETED.value, "0", b"a lie", places)
            ):
                raise AssertionError(f"a late result was taken for {attempt}")

    def void_a_game(self) -> None:
        games = Game.objects.filter(status=GameStatus.FINISHED).order_by("-pk")
        victims = list(games.values_list("pk", flat=True)[:50])
        if victims:
            services.void(self.rng.choice(victims), "chaos")

    def upload_a_version(self) -> None:
        upload(self.rng.choice(list(Bot.objects.order_by("pk"))))


def populate(count: int) -> None:
    """Make scripted bots, each of an owner of its own."""
    for k in range(count):
        owner = User.objects.create(username=f"owner-{k}")
        slug = f"bot-{k}"
        upload(Bot.objects.create(slug=slug, name=slug, owner=owner))


def upload(bot: Bot) -> None:
    """Give a bot a new version that is ready at once."""
    last = bot.submissions.order_by("-number").first()
    number = last.number + 1 if last else 1
    bot.submissions.update(status=Submission.Status.RETIRED)
    Submission.objects.create(
        bot=bot,
        number=number,
        digest=f"{bot.pk:032x}{number:032x}",
        status=Submission.Status.READY,
        language="python",
        entry="bot.py",
        size=1,
        ready_at=timezone.now(),
    )


def connect() -> None:
    """Let this process send to the broker that its settings name."""
    app.set_default()


def pause(seconds: float) -> None:
    threading.Event().wait(seconds)
