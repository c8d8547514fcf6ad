"""The metrics of the service, in the text format of Prometheus.

All numbers about games, workers and ratings are read from the database at the moment of
the scrape, so every web server gives the same ones: workers write their histograms with
their reports. Only the times of requests belong to the process that answers.
"""

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from itertools import accumulate
from typing import Any

from django.db import Error
from django.db.models import Count, QuerySet
from django.db.models.functions import Now
from django.http import HttpRequest
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    GCCollector,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from ladder.bots.models import Submission
from ladder.games import durations, selectors as games
from ladder.games.models import Attempt, Game, GameStatus, Seat, Worker
from ladder.games.worker import timings
from ladder.games.worker.timings import Timing
from ladder.health import demand, signs
from ladder.health.running_tally import TALLY
from ladder.health.sentinels import SENTINELS
from ladder.ratings import rater
from ladder.ratings.models import Season

CONTENT_TYPE = CONTENT_TYPE_LATEST
RECENT = timedelta(hours=1)
UNKNOWN_ROUTE = "none"
# From a page that was shared to an upload of 64 MiB on a slow line.
BUCKETS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 60.0)

_REGISTRY = CollectorRegistry()
for kind in (ProcessCollector, PlatformCollector, GCCollector):
    kind(registry=_REGISTRY)
_REQUEST_SECONDS = Histogram(
    "torres_request_seconds",
    "Time to answer a request in this web server, by route",
    ["method", "route", "status"],
    buckets=BUCKETS_S,
    registry=_REGISTRY,
)
_TIMING_TEXTS = {
    Timing.SANDBOX_START: "Time until a worker has handed a bot over to its sandbox",
    Timing.BOT_READY: "Time until a bot says that it is ready, its sandbox included",
    Timing.REFEREE: "CPU time of the referee in one game",
    Timing.GAME: "Time from the claim of a game to its stored result",
}
METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}


class RequestTimer:
    """The outcome of a request: 500 unless the caller sets its status."""

    def __init__(self) -> None:
        self.status = 500


@contextmanager
def request_timer(request: HttpRequest) -> Iterator[RequestTimer]:
    """Measure a request. The labels are routes, because visitors choose addresses."""
    timer = RequestTimer()
    began = time.perf_counter()
    try:
        yield timer
    finally:
        labels = (method_of(request), route_of(request), f"{timer.status // 100}xx")
        _REQUEST_SECONDS.labels(*labels).observe(time.perf_counter() - began)


def route_of(request: HttpRequest) -> str:
    """Return the pattern of the address of a request that was answered."""
    match = request.resolver_match
    return match.route if match else UNKNOWN_ROUTE


def method_of(request: HttpRequest) -> str:
    return request.method if request.method in METHODS else "other"


def document() -> bytes:
    """Return all metrics. Without the database only those of parts and of requests."""
    return generate_latest(_REGISTRY)


class ServiceCollector(Collector):
    """Reads the state of the service at each scrape."""

    def collect(self) -> Iterable[Metric]:
        yield from _parts()
        try:
            yield from [*_games(), *_workers(), *_ratings(), *_uploads()]
            yield _gauge(
                "invariant_violations",
                "Rows that violate an invariant, lately; anything but 0 is a fault of"
                " ours",
                "sentinel",
                [(sentinel.name, sentinel.count()) for sentinel in SENTINELS],
            )
        except Error:
            return  # the metric of the part `database` says so


def _gauge(
    name: str, text: str, label: str, values: Iterable[tuple[str, float]]
) -> Metric:
    """Return a gauge with a series for each value of its label."""
    metric = GaugeMetricFamily(f"torres_{name}", text, labels=[label])
    for labelled, value in values:
        metric.add_metric([labelled], value)
    return metric


def _parts() -> Iterator[Metric]:
    look = signs.look()
    yield _gauge(
        "part_ok",
        "1 if a part of the service does its work",
        "part",
        [(sign.part, float(sign.is_good)) for sign in look],
    )
    yield _gauge(
        "part_age_seconds",
        "Age of the last sign of life of a part, or of what waits for it",
        "part",
        [(sign.part, sign.age_s) for sign in look if sign.age_s is not None],
    )
    free, total = signs.free_bytes()
    yield GaugeMetricFamily(
        "torres_disk_free_bytes", "Free bytes on the disk with the data folder", free
    )
    yield GaugeMetricFamily("torres_disk_bytes", "Size of that disk in bytes", total)


def _games() -> Iterator[Metric]:
    tally = TALLY.read()
    by_status = [(status, getattr(tally, status)) for status in GameStatus.values]
    yield _gauge("games", "Games by status", "status", by_status)
    yield GaugeMetricFamily(
        "torres_games_missing", "Games that were created and are nowhere", tally.missing
    )
    state = games.service_state()
    yield GaugeMetricFamily(
        "torres_oldest_scheduled_seconds",
        "How long the oldest game has waited for a worker",
        state.oldest_waiting_s or 0.0,
    )
    attempts = CounterMetricFamily(
        "torres_attempts", "Attempts to play a game by outcome", labels=["outcome"]
    )
    attempts.add_metric([Attempt.Outcome.FINISHED], tally.finished + tally.voided)
    attempts.add_metric([Attempt.Outcome.FAILED], state.failed_attempts)
    yield attempts
    recent = Game.objects.filter(
        status=GameStatus.FINISHED, finished_at__gt=Now() - RECENT
    )
    yield GaugeMetricFamily(
        "torres_games_finished_last_hour", "Games that finished", recent.count()
    )
    yield _forfeits(recent)


def _forfeits(recent: QuerySet[Game]) -> Metric:
    metric = GaugeMetricFamily(
        "torres_forfeits_last_hour",
        "Seats that forfeited by reason, and by the language of their bots",
        labels=["reason", "language"],
    )
    faults = Seat.objects.exclude(fault="").filter(game__in=recent)
    counted = faults.values_list("fault", "submission__language").annotate(Count("pk"))
    for reason, language, count in counted.order_by():
        metric.add_metric([reason, language], count)
    return metric


def _workers() -> Iterator[Metric]:
    """Yield what the installations of workers offer; one may have several processes."""
    slots: Counter[str] = Counter()
    loads: dict[str, float] = {}
    speeds: dict[str, float] = {}
    players = list(games.live_players())
    for worker in players:
        name = worker.installation
        slots[name] += worker.slots
        loads[name] = worker.load
        if worker.calibration_ms is not None:
            speeds[name] = worker.calibration_ms / 1000
    for name, text, values in (
        ("slots", "Games that workers play at once", slots),
        ("load", "Load average for each CPU of the host", loads),
        ("calibration_seconds", "Thinking time of a house bot in a fixed game", speeds),
    ):
        yield _gauge(f"worker_{name}", text, "worker", values.items())
    yield GaugeMetricFamily(
        "torres_slots_wanted",
        "Slots that tournaments and ladders need, however many games are open",
        demand.slots_wanted(demand.present()),
    )
    for timing, text in _TIMING_TEXTS.items():
        yield _histogram(timing, text, players)


def _histogram(timing: Timing, text: str, workers: Sequence[Worker]) -> Metric:
    """Return what the present processes have counted since their start.

    Each is a series of its own. A sum would become smaller when a process ends, and
    Prometheus would take that for a restart of all.
    """
    metric = HistogramMetricFamily(
        f"torres_{timing}_seconds", text, labels=["worker", "process"]
    )
    for worker in workers:
        counted: dict[str, Any] = worker.timings.get(timing, {})
        counts = counted.get("counts", [])
        # A worker of another version may have other buckets.
        if len(counts) == len(timings.BUCKETS_S) + 1:
            bounds = [*map(str, timings.BUCKETS_S), "+Inf"]
            buckets = list(zip(bounds, accumulate(counts), strict=True))
            process = worker.name.rpartition("#")[2]
            labels = [worker.installation, process]
            metric.add_metric(labels, buckets, counted["sum"])
    return metric


def _ratings() -> Iterator[Metric]:
    unrated = GaugeMetricFamily(
        "torres_unrated_games",
        "Finished games that are not rated",
        labels=["ladder", "season"],
    )
    lag = GaugeMetricFamily(
        "torres_rating_lag_seconds",
        "Age of the oldest of them",
        labels=["ladder", "season"],
    )
    entries = CounterMetricFamily(
        "torres_ledger_entries",
        "Entries of the ledger of a season",
        labels=["ladder", "season"],
    )
    seasons = Season.objects.exclude(status=Season.Status.ARCHIVED)
    for season in seasons.select_related("ladder").order_by("ladder", "number"):
        labels = [season.ladder.slug, str(season.number)]
        unrated.add_metric(labels, rater.unrated(season.pk).count())
        lag.add_metric(labels, signs.rating_lag_s(season.pk))
        entries.add_metric(labels, season.head)
    yield from (unrated, lag, entries)


def _uploads() -> Iterator[Metric]:
    waiting = Submission.objects.filter(
        status__in=[Submission.Status.UPLOADED, Submission.Status.WAITING]
    )
    yield GaugeMetricFamily(
        "torres_uploads_waiting", "Uploads that wait for a worker", waiting.count()
    )
    stages = GaugeMetricFamily(
        "torres_upload_stage_seconds",
        "Median time of the stages from an upload to its first game, lately",
        labels=["language", "stage"],
    )
    for language in sorted(_languages()):
        usual = durations.usual_durations(language)._asdict()
        for name, seconds in usual.items():
            if seconds is not None:
                stages.add_metric([language, name.removesuffix("_s")], seconds)
    yield stages


def _languages() -> set[str]:
    """Return the languages that the workers offer, of which uploads can be ready."""
    return {name for worker in games.live_workers() for name in worker.languages}


_REGISTRY.register(ServiceCollector())
