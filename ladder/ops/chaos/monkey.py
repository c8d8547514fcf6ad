"""A small service of many processes, and a monkey that breaks parts of it.

The service runs on private servers. A seed determines the order of the disruptions; the
exact timing depends on the machine. The invariants have to hold in any case.
"""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import structlog
from django.conf import settings
from django.contrib.auth.models import User
from django.db import Error, connection
from django.db.models import F
from django.db.models.functions import Now
from django.utils import timezone

from engine.faults import EndReason, Fault
from ladder.bots.models import Bot, Submission
from ladder.celery import app
from ladder.common.publishing import BROKER_ERRORS
from ladder.dispatch.tasks import play_game
from ladder.games import attempts
from ladder.games.attempts import Claim, FinishedGame, SeatResult
from ladder.games.models import Attempt, Game
from ladder.moderation.models import DispatcherLease
from ladder.ops.chaos import bad_rows
from ladder.ops.chaos.organiser import Organiser
from ladder.ops.chaos.recovery import Recovery
from ladder.ops.chaos.servers import Postgres, Redis
from ladder.ops.chaos.tcp_proxy import TcpProxy
from torres.common.errors import LadderError
from torres.common.parents import end_with_parent
from torres.common.pause import pause

SLOTS_PER_WORKER = 2
APP = "ladder.ops.chaos.celery"
# Worker k runs with the k-th offset (modulo 4) added to its clock.
CLOCK_OFFSETS_S = (0.0, 3600.0, -3600.0, 0.0)
# Python imports a module of the name `sitecustomize` at its start.
SITECUSTOMIZE = """
import os, time
offset_s = float(os.environ["CHAOS_SKEW"])
true_time = time.time
time.time = lambda: true_time() + offset_s
"""

log = structlog.get_logger()


@dataclass(slots=True)
class ServiceProcess:
    """A process of the service, restarted by `ensure_running` whenever it has ended.

    The kernel kills it together with the thread that started it.
    """

    command: list[str]
    env: dict[str, str]
    log: Path
    child: subprocess.Popen[bytes] | None = None

    def ensure_running(self) -> None:
        if self.child is None or self.child.poll() is not None:
            with self.log.open("ab") as out:
                self.child = subprocess.Popen(
                    [*end_with_parent(), *self.command],
                    env=self.env,
                    stdout=out,
                    stderr=out,
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
    """The processes, their servers, and a proxy between each worker and each server."""

    folder: Path
    postgres: Postgres
    redis: Redis
    workers: list[ServiceProcess] = field(default_factory=list)
    schedulers: list[ServiceProcess] = field(default_factory=list)
    links: list[tuple[TcpProxy, TcpProxy]] = field(default_factory=list)

    def open(self, workers: int) -> None:
        clock = self.folder / "clock"
        clock.mkdir(exist_ok=True)
        (clock / "sitecustomize.py").write_text(SITECUSTOMIZE)
        for k in range(workers):
            self._open_worker(k, clock)
        manage = [sys.executable, str(settings.BASE_DIR / "manage.py"), "schedule"]
        for k in range(2):
            path = self.folder / f"scheduler-{k}.log"
            self.schedulers.append(ServiceProcess(manage, dict(os.environ), path))
        self.ensure_running()

    def _open_worker(self, k: int, clock: Path) -> None:
        to_postgres = TcpProxy(self.postgres.port)
        to_redis = TcpProxy(self.redis.port)
        for link in (to_postgres, to_redis):
            link.start()
        database_url = self.postgres.url.replace(
            f":{self.postgres.port}/", f":{to_postgres.port}/"
        )
        broker_url = self.redis.url.replace(
            f":{self.redis.port}/", f":{to_redis.port}/"
        )
        env = os.environ | {
            "DATABASE_URL": database_url,
            "BROKER_URL": broker_url,
            "SECRET_KEY": settings.SECRET_KEY,
            "PYTHONPATH": f"{clock}:{settings.BASE_DIR}",
            "CHAOS_SKEW": str(CLOCK_OFFSETS_S[k % len(CLOCK_OFFSETS_S)]),
            "TORRES_DATA": str(self.folder / f"host-{k}"),
            "REMAP_SIGTERM": "SIGQUIT",
        }
        celery = [sys.executable, "-m", "celery", "-A", APP, "worker"]
        options = [
            "-P",
            "threads",
            "-c",
            str(SLOTS_PER_WORKER),
            "-n",
            f"worker-{k}@here",
        ]
        quiet = ["--without-gossip", "--without-mingle", "--loglevel", "WARNING"]
        path = self.folder / f"worker-{k}.log"
        self.workers.append(ServiceProcess([*celery, *options, *quiet], env, path))
        self.links.append((to_postgres, to_redis))

    def ensure_running(self) -> None:
        for process in [*self.workers, *self.schedulers]:
            process.ensure_running()

    def close(self) -> None:
        for process in [*self.schedulers, *self.workers]:
            process.close()
        for links in self.links:
            for link in links:
                link.close()


class Repair(NamedTuple):
    """The repair of a fault, and its time. `part` identifies the broken process."""

    at: float
    fault: str
    make: Callable[[], None]
    part: int


class Monkey:
    """Disrupts a service in one way after the other.

    `counts` holds how often each disruption succeeded, and `recovery` how long no game
    finished after each. Freezes and cuts last `longest_s` seconds at most. Times are in
    seconds of the monotonic clock.
    """

    def __init__(self, service: ChaosService, seed: int, longest_s: float) -> None:
        self.service = service
        self.recovery = Recovery()
        self._longest_s = longest_s
        self.rng = random.Random(seed)  # noqa: S311 -- reproducible, no secret
        self.organiser = Organiser(self.rng)
        self.counts: Counter[str] = Counter()
        self._repairs: list[Repair] = []
        self._now = 0.0
        self._name = ""
        # The numbers are relative frequencies.
        self.disruptions: dict[Callable[[], None], int] = {
            self.kill_a_worker: 6,
            self.stop_a_worker: 2,
            self.freeze_a_worker: 3,
            self.cut_a_link: 3,
            self.kill_a_scheduler: 2,
            self.freeze_a_scheduler: 2,
            self.fail_over: 3,
            self.plant_a_bad_row: 2,
            self.flush_redis: 2,
            self.kill_redis: 2,
            self.freeze_redis: 2,
            self.freeze_postgres: 1,
            self.kill_postgres: 2,
            self.repeat_messages: 4,
            self.post_late_results: 4,
            self.upload_a_version: 3,
            self.organiser.void_a_game: 3,
            self.organiser.void_an_old_game: 1,
            self.organiser.void_many_games: 1,
            self.organiser.void_an_archived_game: 1,
            self.organiser.rerun_a_dead_game: 2,
            self.organiser.end_the_season: 1,
        }
        # Each kind comes once before chance decides, so that a short run skips none.
        self._first_round = self.rng.sample(
            list(self.disruptions), len(self.disruptions)
        )

    def act(self, now: float) -> None:
        """Make the repairs whose time has come, then cause one disruption."""
        self._now = now
        self.repair(now)
        disrupt = self._next_disruption()
        self._name = disrupt.__name__.replace("_", " ")
        self.recovery.begin(self._name)
        try:
            disrupt()
        except (Error, *BROKER_ERRORS, OSError, LadderError) as error:
            # An earlier disruption can prevent this one.
            log.info("a disruption failed", disruption=self._name, error=str(error))
        else:
            self.counts[self._name] += 1
        connection.close()

    def _next_disruption(self) -> Callable[[], None]:
        if self._first_round:
            return self._first_round.pop()
        weights = list(self.disruptions.values())
        return self.rng.choices(list(self.disruptions), weights)[0]

    def repair(self, now: float) -> None:
        """Make the repairs that were planned for `now` or earlier."""
        ready = [repair for repair in self._repairs if repair.at <= now]
        self._repairs = [repair for repair in self._repairs if repair.at > now]
        for repair in ready:
            self.recovery.begin(f"end of {repair.fault}")
            repair.make()
        with suppress(Error):
            self.organiser.keep_a_season_open()

    def has_repairs(self) -> bool:
        """True while a fault lasts."""
        return bool(self._repairs)

    def can_play(self) -> bool:
        """True unless all workers, or all dispatchers, have a fault that lasts."""
        broken = {repair.part for repair in self._repairs}
        parts = (self.service.workers, self.service.schedulers)
        return not any(broken.issuperset(map(id, kind)) for kind in parts)

    def _repair_later(
        self, repair: Callable[[], None], part: ServiceProcess | None = None
    ) -> None:
        at = self._now + self._duration_s()
        self._repairs.append(Repair(at, self._name, repair, id(part)))

    def _duration_s(self) -> float:
        return self.rng.uniform(0.1, 1.0) * self._longest_s

    def _any_worker(self) -> int:
        return self.rng.randrange(len(self.service.workers))

    def kill_a_worker(self) -> None:
        self.service.workers[self._any_worker()].send(signal.SIGKILL)

    def stop_a_worker(self) -> None:
        self.service.workers[self._any_worker()].send(signal.SIGTERM)

    def freeze_a_worker(self) -> None:
        """Stop a worker's process, often until after its leases have expired."""
        worker = self.service.workers[self._any_worker()]
        worker.send(signal.SIGSTOP)
        self._repair_later(lambda: worker.send(signal.SIGCONT), worker)

    def cut_a_link(self) -> None:
        k = self._any_worker()
        links = self.service.links[k]
        cut = self.rng.choice([links, links[:1], links[1:]])
        for link in cut:
            link.cut()
            self._repair_later(link.repair, self.service.workers[k])

    def kill_a_scheduler(self) -> None:
        self.rng.choice(self.service.schedulers).send(signal.SIGKILL)

    def freeze_a_scheduler(self) -> None:
        """Stop a dispatcher's process while the other one may take over."""
        scheduler = self.rng.choice(self.service.schedulers)
        scheduler.send(signal.SIGSTOP)
        self._repair_later(lambda: scheduler.send(signal.SIGCONT), scheduler)

    def fail_over(self) -> None:
        """Take the lease from the dispatcher that leads, so that the other may lead."""
        DispatcherLease.objects.update(fence=F("fence") + 1, lease_until=Now())

    def plant_a_bad_row(self) -> None:
        plant = self.rng.choice([bad_rows.plant_ladder, bad_rows.plant_tournament])
        plant(self.rng)

    def flush_redis(self) -> None:
        self.service.redis.execute("FLUSHALL")

    def kill_redis(self) -> None:
        self.service.redis.kill()
        self._repair_later(self.service.redis.start)

    def freeze_redis(self) -> None:
        """Let the broker accept connections and answer nothing."""
        self.service.redis.send(signal.SIGSTOP)
        self._repair_later(lambda: self.service.redis.send(signal.SIGCONT))

    def kill_postgres(self) -> None:
        self.service.postgres.restart()

    def freeze_postgres(self) -> None:
        """Stop all processes of the database, and wait: no other fault can act."""
        self.service.postgres.send(signal.SIGSTOP)
        pause(self._duration_s())
        self.service.postgres.send(signal.SIGCONT)
        self.recovery.look(time.monotonic(), 0, can_play=False)

    def repeat_messages(self) -> None:
        """Send hints for games of every status, and for a game that does not exist."""
        games = list(Game.objects.order_by("-pk").values_list("pk", flat=True)[:20])
        hints = [*games, 10**12] * 5
        self.rng.shuffle(hints)
        for game in hints:
            queue = self.rng.choice(["play", "again"])
            play_game.apply_async((game,), queue=queue, retry=False)

    def post_late_results(self) -> None:
        """Send results of attempts that have ended. Each one must be refused."""
        ended = Attempt.objects.exclude(outcome__in=["open", "finished"])
        for attempt in ended.order_by("-pk").select_related("game__match")[:10]:
            claim = Claim(
                attempt.game_id, attempt.fence, attempt.pk, attempt.worker_id or 0
            )
            seats = range(attempt.game.match.seats)
            results = [
                SeatResult(seat, 999, 1, Fault.CRASH.value, "forged") for seat in seats
            ]
            forged = FinishedGame(
                EndReason.COMPLETED.value, "0", b"forged", results, "{}"
            )
            if attempts.finish(claim, forged):
                raise AssertionError(f"a late result was accepted for {attempt}")

    def upload_a_version(self) -> None:
        upload(self.rng.choice(list(Bot.objects.order_by("pk"))))


def populate(count: int) -> None:
    """Create scripted bots, each with its own owner."""
    for k in range(count):
        owner = User.objects.create(username=f"owner-{k}")
        slug = f"bot-{k}"
        upload(Bot.objects.create(slug=slug, name=slug, owner=owner))


def upload(bot: Bot) -> None:
    """Create a new version of a bot, ready without validation."""
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
    """Let this process send tasks to the configured broker."""
    app.set_default()
