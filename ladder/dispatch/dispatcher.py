"""The dispatcher: the one process that sends games to workers.

Several times a second its tick calls the packages below. Games of lost workers are
reaped, finished games are folded into ratings, new bots join, matches are made, and
hints are sent for games that are waiting. Every step is idempotent and may be late, so
the tick also repairs the effects of every lost message.

Each season, ladder, tournament and part of the tick is a unit of its own: an error
stops this unit only (`ladder.service.containment`).
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from threading import Event
from typing import TypeVar

import structlog
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import connection
from kombu.exceptions import InconsistencyError

from ladder.bots import selectors as bots
from ladder.common import publishing, statement_limits
from ladder.common.jobs import JobProcess
from ladder.common.planner_statistics import PlannerStatistics
from ladder.common.publishing import BROKER_ERRORS
from ladder.dispatch import changes
from ladder.dispatch.changes import UNKNOWN, WHOLE_UPKEEP, ChangeDetector, Look, Work
from ladder.dispatch.contact import DatabaseContact
from ladder.dispatch.hints import HintPlanner, handle_broker_error, send_hint
from ladder.dispatch.jobs import JOBS
from ladder.dispatch.leader import leading
from ladder.dispatch.log_keeper import LogKeeper
from ladder.dispatch.retention import RetentionSchedule
from ladder.dispatch.tasks import build_submission, check_seat, play_game
from ladder.extras.comparisons import advance as comparisons
from ladder.extras.editor import services as editor
from ladder.extras.practice import claims as practice
from ladder.extras.spot_checks import services as spot_checks
from ladder.games import (
    attempts,
    match_traces,
    selectors as games,
    services,
    worker_health,
)
from ladder.games.capabilities import WorkerPool
from ladder.games.shares import Shares
from ladder.public_log.keys import LogKeyRefused
from ladder.ratings import rater, selectors as ratings, summaries, voids
from ladder.ratings.cancellation import cancel_unplayable
from ladder.ratings.matchmaking import MatchmakingSession
from ladder.ratings.models import Season
from ladder.ratings.seasons import settle
from ladder.service import service_parts
from ladder.service.containment import Containment, Unit, UnitKind
from ladder.tournaments import advance as tournaments

REAP_INTERVAL_S = settings.TORRES_LEASE_SECONDS / 6
# Folds, new bots, uploads and tournaments, if there may be work for them.
UPKEEP_INTERVAL_S = 1.0
# The whole upkeep runs after this number of intervals, whatever has changed.
MAX_INTERVALS_WITHOUT_UPKEEP = 30
HEALTH_INTERVAL_S = 60.0  # of the workers, and of the database's statistics
# The time that the fold of one season may take in one tick.
FOLD_BUDGET_S = 0.5
# Reads all bots. In between, only uploads that became ready lately are looked at. It is
# shorter than the time between two whole upkeeps, so that each of them reads all.
WELCOME_ALL_INTERVAL_S = 20.0
READY_LATELY = timedelta(minutes=2)
BROKER_RETRY_INTERVAL_S = 3.0  # after a failure
TICK_INTERVAL_S = 0.25
# Used while workers take every hint that is sent, because they may be idle.
BUSY_TICK_INTERVAL_S = 0.05
# Used while no game is open. A challenge then waits this long at most.
IDLE_TICK_INTERVAL_S = 1.0
# How many open games each ladder gets for each slot of a worker as soon as it has too
# few: less than one that runs and one whose hint waits. So several matches share the
# transactions that plan them and give them their decks.
OPEN_GAMES_PER_SLOT = 3
MIN_OPEN_GAMES_PER_SLOT = 2

_NEVER = float("-inf")

T = TypeVar("T")
log = structlog.get_logger()


@dataclass(slots=True)
class TickResult:
    """The effects of one tick: counts of games, bots, matches, uploads, leaves, hints.

    `deleted` counts the rows and files that nobody needed any more.

    `queues_were_empty` is true if the workers had taken all earlier hints, and `idle`
    if no game is open.
    """

    reaped: int = 0
    voided: int = 0
    folded: int = 0
    joined: int = 0
    paired: int = 0
    cancelled: int = 0
    drawn: int = 0
    compared: int = 0
    built: int = 0
    logged: int = 0
    sent: int = 0
    deleted: int = 0
    queues_were_empty: bool = False
    idle: bool = False


def _pause_after(result: TickResult) -> float:
    """Return the seconds from the end of a tick to the next one."""
    if result.queues_were_empty and result.sent:
        return BUSY_TICK_INTERVAL_S
    return IDLE_TICK_INTERVAL_S if result.idle else TICK_INTERVAL_S


class Dispatcher:
    """Ticks until it is stopped. One is enough; a second one does no harm.

    It calls `goes_on` before each tick, and while it waits to lead.
    """

    def __init__(self, goes_on: Callable[[], None] = lambda: None) -> None:
        self._goes_on = goes_on
        self._contact = DatabaseContact()
        self._broker_retry_at = _NEVER
        self._reaped_at = _NEVER
        self._upkeep_at = _NEVER
        self._looked_at = _NEVER
        self._workers = WorkerPool()
        self._changes = ChangeDetector()
        self._again = Work()
        """The parts of the upkeep that changed something when they ran last."""
        self._health_checked_at = _NEVER
        self._statistics = PlannerStatistics()
        self._build_hints: dict[int, float] = {}
        """When a hint was last sent for an upload, by submission."""
        self._uploads = 0
        """The number of uploads that are validated or have a hint."""
        self._matchmaking: dict[int, MatchmakingSession] = {}
        self._units = Containment()
        self._reported_at = _NEVER
        self._last_error = ""
        self._jobs = [JobProcess(job) for job in JOBS]
        self._log = LogKeeper()
        self._lacks_key = False
        self._welcomed_at: dict[int, float] = {}
        """When all bots were last looked at, by season."""
        self._retention = RetentionSchedule()

    def run(self, stop: Event) -> None:
        """Tick until `stop` is set. Survives every error but ImproperlyConfigured."""
        while not stop.is_set():
            self._goes_on()
            try:
                self._lead(stop)
            except ImproperlyConfigured:
                raise
            except LogKeyRefused as refused:
                self._report_without_key(refused)
            except Exception as error:  # noqa: BLE001 -- nothing may end the dispatcher
                self._log_pause(error)
                connection.close()
            stop.wait(UPKEEP_INTERVAL_S)
        for process in self._jobs:
            process.stop()
        for process in self._jobs:
            process.close()
        connection.close()

    def _log_pause(self, error: Exception) -> None:
        """Log an error of the whole tick, with its traceback only at first."""
        text = repr(error)
        is_new = text != self._last_error
        self._last_error = text
        log.warning(
            "dispatcher pauses after an error",
            error=str(error),
            exc_info=error if is_new else None,
            **statement_limits.met_by(error),
        )

    def _lead(self, stop: Event) -> None:
        """Tick while we lead, until `stop` is set; return at once if another leads.

        Raises LogKeyRefused if this process cannot keep the public log.
        """
        self._log.check_key()
        if self._lacks_key:
            self._lacks_key = False
            service_parts.sign_off(service_parts.WITHOUT_LOG_KEY)
        with leading() as leadership:
            if leadership is None:
                return
            self._log.begin()
            self._units.load()
            while leadership.is_held() and not stop.is_set():
                self._goes_on()
                result = self.tick()
                self._report()
                connection.close_if_unusable_or_obsolete()
                stop.wait(_pause_after(result))
            if stop.is_set():
                service_parts.sign_off(service_parts.DISPATCHER)
            else:
                log.warning("another dispatcher may lead now: the lease was lost")

    def _report_without_key(self, refused: LogKeyRefused) -> None:
        """Let operators know that this dispatcher waits for the key of the log."""
        if not self._lacks_key:
            self._lacks_key = True
            log.error("this dispatcher cannot lead", error=str(refused))
        self._report(service_parts.WITHOUT_LOG_KEY)

    def _report(self, part: str = service_parts.DISPATCHER) -> None:
        """Let `manage.py status` see what this process does."""
        now = time.monotonic()
        if now - self._reported_at >= service_parts.REPORT_INTERVAL_S:
            self._reported_at = now
            service_parts.report(part)

    def _part(self, name: str, action: Callable[[], T], default: T) -> T:
        return self._units.run(Unit(UnitKind.PART, name), action, default)

    def tick(self) -> TickResult:
        """Do everything that is to be done now. Safe to call at any time.

        1. Reap games whose lease has ended, and end games by hand and trials that no
           host plays.
        2. Once a minute: let SQLite count its rows, drain workers that cause failures,
           void their games, and choose seats that are asked again.
        3. Once a second, each if it may have something to do: fold finished games, let
           new bots join, cancel games of bots that may no longer play, send hints for
           uploads, and advance tournaments and comparisons.
        4. Make matches for the seasons that have too few open games.
        5. Bring the public log up to date, and give new matches their decks.
        6. Send hints for games that are waiting.
        7. Delete a few rows that nobody needs any more.

        The processes of jobs are started beside this if they have work.
        """
        result = TickResult()
        now = time.monotonic()
        is_second_over = now - self._looked_at >= UPKEEP_INTERVAL_S
        if is_second_over:
            self._looked_at = now
            self._workers = self._part("workers", games.worker_pool, WorkerPool())
        workers = self._workers
        if now - self._reaped_at >= REAP_INTERVAL_S:
            self._reaped_at = now
            result.reaped = self._reap(now)
        if now - self._health_checked_at >= HEALTH_INTERVAL_S:
            self._health_checked_at = now
            self._part("planner statistics", self._statistics.keep_fresh, None)
            result.voided = self._part(
                "worker health",
                lambda: len(worker_health.drain_faulty_workers(voids.void)),
                0,
            )
            self._part("spot checks", partial(self._check_seats, workers.slots), None)
        if is_second_over:
            self._start_jobs(independent=True)
            work = self._find_work(now)
            if any(work):
                self._keep_up(result, workers, now, work)
        self._supply_workers(result, workers, now)
        result.deleted = self._part("retention", lambda: self._retention.apply(now), 0)
        # Each unit has run at least once since the last of these moments.
        if self._health_checked_at == now:
            self._units.forget_unseen()
        return result

    def _supply_workers(
        self, result: TickResult, workers: WorkerPool, now: float
    ) -> None:
        """Make matches, keep the public log, and send hints, if a look finds work."""
        look = self._part("look", changes.look, UNKNOWN)
        result.paired = self._make_matches(workers.slots, look.fewest_open)
        result.logged = self._part(
            "public log", lambda: self._advance_log(result, look, now), 0
        )
        result.idle = not (look.is_open or result.paired)
        result.queues_were_empty = not look.is_hinted
        if look.needs_hint or result.paired or result.logged:
            result.sent = self._part("hints", lambda: self._send_hints(workers), 0)

    def _reap(self, now: float) -> int:
        """Return how many games were reaped; those by hand and trials do not count."""
        self._part("practice", practice.end_lifeless, 0)
        self._part("trials", editor.end_lifeless, 0)
        return self._part(
            "reaping", lambda: len(attempts.reap(self._contact.confirm(now))), 0
        )

    def _find_work(self, now: float) -> Work:
        """Return the parts of the upkeep that may have something to do.

        All parts run if one has failed, and from time to time.
        """
        found = self._part("changes", self._changes.find_work, WHOLE_UPKEEP)
        longest_pause_s = UPKEEP_INTERVAL_S * MAX_INTERVALS_WITHOUT_UPKEEP
        if now - self._upkeep_at >= longest_pause_s or not self._units.all_work():
            self._upkeep_at = now
            return WHOLE_UPKEEP
        return found | self._again

    def _keep_up(
        self, result: TickResult, workers: WorkerPool, now: float, work: Work
    ) -> None:
        """Fold, let bots join, cancel, send hints for uploads, advance what is running.

        If a part changed something, it may have more to do a second later.
        """
        if work.ratings or work.arrivals:
            result.joined, result.folded = self._fold_seasons(work)
        if work.cancelling:
            result.cancelled = self._part("cancelling", cancel_unplayable, 0)
        self._start_jobs(independent=False)
        if work.uploads or self._uploads:
            result.built = self._part(
                "uploads", lambda: self._send_build_hints(workers, now), 0
            )
        if work.tournaments:
            result.drawn = tournaments.tick(workers.slots, self._units)
        if work.comparisons:
            result.compared = comparisons.tick(workers.slots, self._units)
        self._again = Work(
            ratings=result.folded > 0,
            arrivals=result.joined > 0,
            cancelling=result.cancelled > 0,
        )

    def _start_jobs(self, *, independent: bool) -> None:
        for process in self._jobs:
            if process.job.independent == independent:
                self._part(f"job {process.job.name}", process.ensure, None)

    def _fold_seasons(self, work: Work) -> tuple[int, int]:
        """Return how many bots joined a ladder and how many entries were folded."""
        joined = 0
        folded = 0
        for season in ratings.unarchived().select_related("ladder"):
            unit = Unit(UnitKind.RATINGS, season.ladder.slug)
            fold = partial(self._fold_season, season, work)
            more = self._units.run(unit, fold, (0, 0))
            joined += more[0]
            folded += more[1]
        for season in summaries.behind():
            catch_up = partial(summaries.catch_up, season.pk)
            self._part(f"summaries of season {season.pk}", catch_up, 0)
        return joined, folded

    def _fold_season(self, season: Season, work: Work) -> tuple[int, int]:
        """Return how many bots joined the season and how many entries were folded.

        After an outage many games wait. They are folded over several ticks, so that
        reaping, matches and hints go on.
        """
        joined = self._welcome(season.pk) if work.arrivals else 0
        folded = 0
        deadline = time.monotonic() + FOLD_BUDGET_S
        goes_on = True
        while goes_on:
            entries = rater.fold(season.pk, voids=work.voids)
            folded += entries
            goes_on = entries >= rater.BATCH_GAMES and time.monotonic() <= deadline
        settle(season)
        return joined, folded

    def _welcome(self, season: int) -> int:
        """Let bots join: each second those with a new upload, from time to time all."""
        now = time.monotonic()
        if now - self._welcomed_at.get(season, _NEVER) < WELCOME_ALL_INTERVAL_S:
            return rater.welcome(season, ready_within=READY_LATELY)
        self._welcomed_at[season] = now
        rater.open_closed_pairings(season)
        return rater.welcome(season)

    def _make_matches(self, slots: int, fewest_open: int | None) -> int:
        wanted = OPEN_GAMES_PER_SLOT * slots
        enough = MIN_OPEN_GAMES_PER_SLOT * slots
        if fewest_open is None or fewest_open >= enough:
            return 0
        open_games = ratings.open_games_by_season()
        hungry = [season for season, count in open_games.items() if count < enough]
        paired = 0
        for season in ratings.playing().filter(pk__in=hungry):
            unit = Unit(UnitKind.MATCHMAKING, season.ladder.slug)
            missing = wanted - open_games[season.pk]
            make = partial(self._make_matches_of, season, missing)
            paired += self._units.run(unit, make, 0)
        return paired

    def _advance_log(self, result: TickResult, look: Look, now: float) -> int:
        return self._log.advance(
            now,
            leaves_wait=look.leaves_wait,
            matches_wait=look.matches_wait or result.paired > 0,
        )

    def _make_matches_of(self, season: Season, missing: int) -> int:
        # A session that failed half-way is not kept, because its pool may be wrong.
        session = self._matchmaking.pop(season.pk, None) or MatchmakingSession()
        paired = session.pair(season, missing)
        self._matchmaking[season.pk] = session
        return paired

    def _send_build_hints(self, workers: WorkerPool, now: float) -> int:
        """Send hints for uploads that wait for validation; return their number.

        No more are sent than uploads may hold slots, and none again while the last
        hint for the same upload may still arrive.
        """
        lifetime_s = games.HINT_LIFETIME.total_seconds()
        self._build_hints = {
            submission: sent_at
            for submission, sent_at in self._build_hints.items()
            if now - sent_at <= lifetime_s
        }
        self._uploads = bots.count_in_work(self._build_hints)
        due = [pk for pk in bots.claimable_ids() if pk not in self._build_hints]
        if not due or now < self._broker_retry_at:
            return 0
        shares = Shares(workers, games.open_games(), self._uploads)
        sent = 0
        live_hosts = len(set(games.live_workers().values_list("host", flat=True)))
        try:
            with publishing.producer(build_submission.app) as producer:
                for submission in due[: shares.for_uploads()]:
                    build_submission.apply_async(
                        (submission, live_hosts), producer=producer, retry=False
                    )
                    self._build_hints[submission] = now
                    sent += 1
        except BROKER_ERRORS as error:
            self._handle_broker_error(error)
        self._uploads += sent
        return sent

    def _check_seats(self, slots: int) -> None:
        """Choose seats of games that have ended, and send hints for some of them."""
        waiting = spot_checks.tick()
        if time.monotonic() < self._broker_retry_at:
            return
        try:
            with publishing.producer(check_seat.app) as producer:
                for _ in range(min(waiting, slots)):
                    check_seat.apply_async((), producer=producer, retry=False)
        except BROKER_ERRORS as error:
            self._handle_broker_error(error)

    def _handle_broker_error(self, error: Exception) -> None:
        """Log it, and send nothing for a while: each try may take a second."""
        if not isinstance(error, InconsistencyError):
            self._broker_retry_at = time.monotonic() + BROKER_RETRY_INTERVAL_S
        handle_broker_error(error)

    def _send_hints(self, workers: WorkerPool) -> int:
        """Send hints for waiting games; return how many hints were sent.

        1. Choose the games and their queues.
        2. Mark the games as sent before anything is sent, so that a second dispatcher
           does not send the same hints.
        3. Send. If the broker fails, take back the marks of the unsent hints.
        """
        if time.monotonic() < self._broker_retry_at:
            return 0
        if self._uploads:
            self._uploads = bots.count_in_work(self._build_hints)
        planner = HintPlanner(workers, games.open_games(), self._uploads)
        planner.fill()
        if not planner.hints:
            return 0
        for queue in {hint.queue for hint in planner.hints}:
            of_queue = [hint.game for hint in planner.hints if hint.queue == queue]
            services.mark_sent(of_queue, queue)
        sent = 0
        try:
            with publishing.producer(play_game.app) as producer:
                for hint in planner.hints:
                    send_hint(hint.game, hint.queue, producer)
                    sent += 1
        except BROKER_ERRORS as error:
            self._handle_broker_error(error)
            services.mark_unsent([hint.game for hint in planner.hints[sent:]])
        match_traces.record_hints(planner.hints[:sent])
        return sent
