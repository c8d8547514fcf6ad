"""The dispatcher: the one process that sends games to workers.

Several times a second its tick calls the packages below. Games of lost workers are
reaped, finished games are folded into ratings, new bots join, matches are made, and
hints are sent for games that are waiting. Every step is idempotent and may be late, so
the tick also repairs the effects of every lost message.
"""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Event

import psycopg
import structlog
from django.conf import settings
from django.db import Error, connection

from ladder.bots import selectors as bots
from ladder.bots.tasks import build_submission
from ladder.dispatch.hints import (
    BROKER_ERRORS,
    HintPlanner,
    handle_broker_error,
    send_hint,
)
from ladder.dispatch.leader import leading
from ladder.games import attempts, selectors as games, services, worker_health
from ladder.games.capabilities import WorkerPool
from ladder.games.tasks import play_game
from ladder.ratings import rater, selectors as ratings
from ladder.ratings.matchmaking import MatchmakingSession
from ladder.ratings.seasons import settle
from ladder.tournaments import advance as tournaments

REAP_INTERVAL_S = settings.TORRES_LEASE_SECONDS / 6
# Folds, new bots, uploads and tournaments.
UPKEEP_INTERVAL_S = 1.0
HEALTH_INTERVAL_S = 60.0
TICK_INTERVAL_S = 0.25
# Used while workers take every hint that is sent, because they may be idle.
BUSY_TICK_INTERVAL_S = 0.05
# How many open games each ladder keeps for each slot of a worker.
OPEN_GAMES_PER_SLOT = 3

_NEVER = float("-inf")

log = structlog.get_logger()


@dataclass(slots=True)
class TickResult:
    """The effects of one tick, as counts of games, bots, matches, uploads and hints.

    `queues_were_empty` is true if the workers had taken all earlier hints.
    """

    reaped: int = 0
    voided: int = 0
    folded: int = 0
    joined: int = 0
    paired: int = 0
    drawn: int = 0
    built: int = 0
    sent: int = 0
    queues_were_empty: bool = False


class Dispatcher:
    """Ticks until it is stopped. One is enough; a second one does no harm."""

    def __init__(self) -> None:
        self._reaped_at = _NEVER
        self._upkeep_at = _NEVER
        self._health_checked_at = _NEVER
        self._fold_requested_at = _NEVER
        self._build_hints: dict[int, float] = {}
        """When a hint was last sent for an upload, by submission."""
        self._matchmaking: dict[int, MatchmakingSession] = {}

    def run(self, stop: Event) -> None:
        """Tick until `stop` is set. Survives outages of database and broker."""
        while not stop.is_set():
            try:
                self._lead(stop)
            except (Error, psycopg.Error, *BROKER_ERRORS) as error:
                log.warning("dispatcher pauses after an error", error=str(error))
                connection.close()
            stop.wait(UPKEEP_INTERVAL_S)
        connection.close()

    def _lead(self, stop: Event) -> None:
        """Tick until `stop` is set; return at once if another dispatcher leads."""
        with leading() as is_leader:
            while is_leader and not stop.is_set():
                result = self.tick()
                connection.close()
                busy = result.queues_were_empty and result.sent
                stop.wait(BUSY_TICK_INTERVAL_S if busy else TICK_INTERVAL_S)

    def tick(self) -> TickResult:
        """Do everything that is to be done now. Safe to call at any time.

        1. Reap games whose lease has ended.
        2. Drain workers that cause failures, and void their games.
        3. Once a second: fold finished games, let new bots join, send hints for
           uploads, and advance tournaments.
        4. Make matches until every season has enough open games.
        5. Send hints for games that are waiting.
        """
        result = TickResult()
        now = time.monotonic()
        workers = games.worker_pool()
        if now - self._reaped_at >= REAP_INTERVAL_S:
            self._reaped_at = now
            result.reaped = len(attempts.reap())
        if now - self._health_checked_at >= HEALTH_INTERVAL_S:
            self._health_checked_at = now
            result.voided = len(worker_health.drain_faulty_workers())
        if now - self._upkeep_at >= UPKEEP_INTERVAL_S:
            self._upkeep_at = now
            result.joined, result.folded = self._fold_seasons()
            result.built = self._send_build_hints(workers.slots, now)
            result.drawn = tournaments.tick(workers.slots)
        result.paired = self._make_matches(workers.slots)
        in_flight = games.in_flight()
        result.queues_were_empty = not in_flight.total()
        result.sent = self._send_hints(workers, in_flight)
        return result

    def _fold_seasons(self) -> tuple[int, int]:
        """Return how many bots joined a ladder and how many entries were folded."""
        joined = 0
        folded = 0
        for season in ratings.unarchived():
            joined += rater.welcome(season.pk)
            while entries := rater.fold(season.pk):
                folded += entries
            settle(season)
        return joined, folded

    def _make_matches(self, slots: int) -> int:
        paired = 0
        for season in ratings.playing():
            missing = OPEN_GAMES_PER_SLOT * slots - ratings.open_games(season)
            if missing > 0:
                session = self._matchmaking.setdefault(season.pk, MatchmakingSession())
                paired += session.pair(season, missing)
        return paired

    def _send_build_hints(self, slots: int, now: float) -> int:
        """Send hints for uploads that wait for validation; return their number.

        At most one hint for each slot is sent, and none again while the last hint for
        the same upload may still arrive.
        """
        lifetime_s = games.HINT_LIFETIME.total_seconds()
        self._build_hints = {
            submission: sent_at
            for submission, sent_at in self._build_hints.items()
            if now - sent_at <= lifetime_s
        }
        due = [pk for pk in bots.claimable_ids() if pk not in self._build_hints]
        sent = 0
        hosts = games.live_workers().values_list("host", flat=True) if due else ()
        live_hosts = len(set(hosts))
        for submission in due[:slots]:
            try:
                build_submission.apply_async((submission, live_hosts), retry=False)
            except BROKER_ERRORS as error:
                handle_broker_error(error)
                break
            self._build_hints[submission] = now
            sent += 1
        return sent

    def _send_hints(self, workers: WorkerPool, in_flight: Counter[str]) -> int:
        """Send hints for waiting games; return how many hints were sent.

        1. Choose the games and their queues.
        2. Mark the games as sent before anything is sent, so that a second dispatcher
           does not send the same hints.
        3. Send. If the broker fails, take back the marks of the unsent hints.
        """
        planner = HintPlanner(workers, in_flight)
        planner.fill()
        if not planner.hints:
            return 0
        for queue in {hint.queue for hint in planner.hints}:
            of_queue = [hint.game for hint in planner.hints if hint.queue == queue]
            services.mark_sent(of_queue, queue)
        folds = self._folds_after([hint.game for hint in planner.hints])
        sent = 0
        try:
            with play_game.app.producer_or_acquire() as producer:
                for hint in planner.hints:
                    send_hint(hint.game, hint.queue, folds.get(hint.game), producer)
                    sent += 1
        except BROKER_ERRORS as error:
            handle_broker_error(error)
            services.mark_unsent([hint.game for hint in planner.hints[sent:]])
        return sent

    def _folds_after(self, games: Sequence[int]) -> dict[int, int]:
        """Return the seasons to fold, by the game after whose end each is folded.

        If games end quickly, one fold handles many of them. So at most one fold for
        each season is requested in a second; the upkeep folds the remaining games.
        """
        now = time.monotonic()
        if now - self._fold_requested_at < UPKEEP_INTERVAL_S:
            return {}
        self._fold_requested_at = now
        seasons = ratings.seasons_of(games)
        last_game = {season: game for game, season in seasons.items()}
        return {game: season for season, game in last_game.items()}
