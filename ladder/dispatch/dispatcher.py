"""The one place that sends games to workers, and the net under every lost message.

Its tick asks the rooms: games whose worker is gone are reaped, finished ones folded,
new submissions welcomed, matches made; then hints are sent for what is due. Nobody
waits for it: everything it does may be done twice, and may be late.
"""

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event
from typing import Any

import psycopg
import structlog
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import Error, connection
from kombu import Producer
from kombu.exceptions import InconsistencyError, OperationalError

from ladder.bots import selectors as bots
from ladder.bots.tasks import build_submission
from ladder.common.locks import locked
from ladder.games import attempts, selectors as games, services, worker_health
from ladder.games.capabilities import WorkerPool
from ladder.games.selectors import DueGame
from ladder.games.tasks import play_game
from ladder.ratings import rater, selectors as ratings
from ladder.ratings.matchmaking import MatchmakingSession
from ladder.ratings.seasons import settle
from ladder.ratings.tasks import fold
from ladder.tournaments import advance as tournaments

REAP_S = settings.TORRES_LEASE_SECONDS / 6
LOOK_S = 1.0
HEALTH_S = 60.0
RUSH_S = 0.05
"""The pause when all hints were taken: then the workers may be hungry."""
DEPTH = 2
"""Hints out for each slot: a shallow queue lets what is urgent pass."""
STOCK = 3
"""Open games for each slot that a ladder keeps."""
_POOLED = (
    "The dispatcher's lock needs PostgreSQL itself, and DATABASE_URL leads to a pooler"
    " such as PgBouncer. Say DATABASE_DIRECT_URL=postgres://… beside it, for all"
    " processes."
)
_ADDRESS = ("host", "port", "user", "password", "dbname")
LOCK = 0x70_72_72_65_73
"""The advisory lock's number: all dispatchers of one database ask for the same."""

BROKER_AWAY = (OperationalError, InconsistencyError)

log = structlog.get_logger()


@dataclass(slots=True)
class TickResult:
    """What one tick did; `hungry` if nothing was left to take when it came."""

    reaped: int = 0
    voided: int = 0
    folded: int = 0
    joined: int = 0
    paired: int = 0
    drawn: int = 0
    built: int = 0
    sent: int = 0
    hungry: bool = False


class HintPlanner:
    """Which hints go out now, and to which queue; no queue gets a long one."""

    def __init__(self, roster: WorkerPool, out: Counter[str]) -> None:
        self.hints: list[tuple[str, int]] = []
        self._roster, self._out = roster, out.copy()
        self._stuck: set[str] = set()

    def fill(self) -> None:
        """Choose games in their turn, past those whose workers have enough."""
        room = self._room()
        while room > 0:
            stuck = len(self._stuck)
            chosen = {game for _, game in self.hints}
            for due in games.due(room + len(chosen), self._stuck):
                if due.game not in chosen and due.needs not in self._stuck:
                    self._take(due)
            # Whoever was passed over has left room for others.
            room = self._room() if len(self._stuck) > stuck else 0

    def _room(self) -> int:
        return DEPTH * self._roster.slots - self._out.total()

    def _take(self, due: DueGame) -> None:
        able = self._roster.able(due.needs)
        if able and len(able) == len(self._roster.crews):
            self._add("again" if due.again else due.queue, due.game)
            return
        free = [crew for crew in able if self._out[crew.queue] < DEPTH * crew.slots]
        if not free:
            self._stuck.add(due.needs)
            return
        crew = min(free, key=lambda crew: self._out[crew.queue] / crew.slots)
        self._add(crew.queue, due.game)

    def _add(self, queue: str, game: int) -> None:
        self._out[queue] += 1
        self.hints.append((queue, game))


class Dispatcher:
    """Ticks until it is told to stop. One of it is enough, two do no harm."""

    def __init__(self) -> None:
        self._reaped = self._looked = self._judged = self._folded = float("-inf")
        self._builds: dict[int, float] = {}
        self._desks: dict[int, MatchmakingSession] = {}

    def run(self, stop: Event) -> None:
        """Tick until `stop` is set. Survives the absence of database and broker."""
        while not stop.is_set():
            try:
                with leading() as leads:
                    while leads and not stop.is_set():
                        done = self.tick()
                        connection.close()
                        stop.wait(RUSH_S if done.hungry and done.sent else LOOK_S / 4)
            except (Error, psycopg.Error, *BROKER_AWAY) as error:
                log.warning("dispatcher stopped for a moment", error=str(error))
                connection.close()
            stop.wait(LOOK_S)
        connection.close()

    def tick(self) -> TickResult:
        """Do what is due now. Safe to call at any time, from anywhere."""
        done, now = TickResult(), time.monotonic()
        roster = games.roster()
        slots = roster.slots
        if now - self._reaped >= REAP_S:
            self._reaped = now
            done.reaped = len(attempts.reap())
        if now - self._judged >= HEALTH_S:
            self._judged = now
            done.voided = len(worker_health.look())
        if now - self._looked >= LOOK_S:
            self._looked = now
            for season in ratings.unarchived():
                done.joined += rater.welcome(season.pk)
                while folded := rater.fold(season.pk):
                    done.folded += folded
                settle(season)
            done.built = self._send_builds(slots, now)
            done.drawn = tournaments.tick(slots)
        for season in ratings.playing():
            missing = STOCK * slots - ratings.open_games(season)
            if missing > 0:
                desk = self._desks.setdefault(season.pk, MatchmakingSession())
                done.paired += desk.pair(season, missing)
        self._send(roster, done)
        return done

    def _send_builds(self, slots: int, now: float) -> int:
        """Hint at submissions that are to be tried, each again after a while."""
        life = games.HINT_LIFE.total_seconds()
        due = [
            submission
            for submission in bots.builds_due()
            if now - self._builds.get(submission, float("-inf")) > life
        ][:slots]
        self._builds = {
            submission: sent
            for submission, sent in self._builds.items()
            if now - sent <= life
        }
        for submission in due:
            try:
                build_submission.apply_async((submission,), retry=False)
            except BROKER_AWAY as error:
                broker_is_away(error)
                return 0
            self._builds[submission] = now
        return len(due)

    def _send(self, roster: WorkerPool, done: TickResult) -> None:
        out = games.in_flight()
        done.hungry = not out.total()
        plan = HintPlanner(roster, out)
        plan.fill()
        if not plan.hints:
            return
        for queue in {queue for queue, _ in plan.hints}:
            services.mark_sent([game for q, game in plan.hints if q == queue], queue)
        folds = self._folds_after([game for _, game in plan.hints])
        try:
            with play_game.app.producer_or_acquire() as producer:
                for queue, game in plan.hints:
                    hint(game, queue, folds.get(game), producer)
                    done.sent += 1
        except BROKER_AWAY as error:
            broker_is_away(error)
            services.mark_unsent([game for _, game in plan.hints[done.sent :]])

    def _folds_after(self, games: Sequence[int]) -> dict[int, int]:
        """Return the seasons to be folded, each by a game at whose end it is.

        Where games end quickly, one fold takes many: so it is asked for once a second,
        and what is missed here the periodic look takes.
        """
        now = time.monotonic()
        if now - self._folded < LOOK_S:
            return {}
        self._folded = now
        seasons = ratings.seasons_of(games)
        one_each = {season: game for game, season in seasons.items()}
        return {game: season for season, game in one_each.items()}


def hint(game: int, queue: str, season: int | None, producer: Producer) -> None:
    """Tell the workers of one game; when it was played, its ladder is folded."""
    link = None if season is None else fold.si(season).set(queue="service")
    play_game.apply_async(
        (game,), queue=queue, link=link, producer=producer, retry=False
    )


def broker_is_away(error: Exception) -> None:
    """Note it; a broker that has forgotten its queues (a flushed Redis) is told them.

    Celery declares a queue once for each connection, and would never do it again.
    """
    log.warning("broker is away", error=str(error))
    if isinstance(error, InconsistencyError):
        with play_game.app.connection_for_write() as session:
            for queue in play_game.app.amqp.queues.values():
                queue(session.default_channel).declare()


@contextmanager
def leading() -> Iterator[bool]:
    """Be the one dispatcher of this database while inside; False if there is one.

    On PostgreSQL an advisory lock, which ends with its connection; on SQLite a file's.
    Raises ImproperlyConfigured behind a pooler: there a lock outlives who took it.
    """
    if connection.vendor == "sqlite":
        with locked(settings.DATA_DIR / "dispatch.lock") as mine:
            yield mine
        return
    params: dict[str, Any] = connection.get_connection_params()
    direct = settings.DATABASE_DIRECT_URL
    for name in ("pool", "server_side_binding", *(_ADDRESS if direct else ())):
        params.pop(name, None)
    with psycopg.connect(direct, **params, autocommit=True) as session:
        pid = session.execute("SELECT pg_backend_pid()").fetchone()
        if pid != (session.info.backend_pid,):
            raise ImproperlyConfigured(_POOLED)
        row = session.execute("SELECT pg_try_advisory_lock(%s)", (LOCK,)).fetchone()
        yield bool(row and row[0])
