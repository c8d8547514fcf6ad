"""Signs of life: whether each part of the service does its work, and since when.

The pages of health, the metrics, the alarms and `manage.py status` use these. A look
costs a few small queries. It never raises because a part is away: that is its result.
"""

import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import Error, connection
from django.db.models import Max, Min
from django.db.models.functions import Now
from django.db.models.query import QuerySet

from ladder.common import publishing
from ladder.common.publishing import BROKER_ERRORS
from ladder.extras.editor import selectors as editor
from ladder.extras.practice import selectors as practice
from ladder.extras.spot_checks import selectors as spot_checks
from ladder.games import selectors as games
from ladder.games.models import Game, GameStatus, Worker
from ladder.health.running_tally import TALLY
from ladder.moderation.models import ServicePart, StoppedUnit
from ladder.public_log import tree
from ladder.ratings import rater
from ladder.ratings.models import Season
from ladder.service import service_parts
from ladder.tournaments import selectors as tournaments

DATABASE = "database"
ESSENTIAL = (DATABASE, "broker", "dispatcher", "workers")
MAX_QUEUE_S = 600.0
"""Games that wait longer than this for a worker need an operator."""
MAX_RATING_LAG_S = 120.0
MIN_FREE_SHARE = 0.05
MIN_FREE_BYTES = 1 << 30
MAX_NAMES = 5


class LastSeen(NamedTuple):
    """The last sign of life of a part, and the present time of the database."""

    at: datetime | None
    now: datetime

    def age_s(self) -> float | None:
        return None if self.at is None else (self.now - self.at).total_seconds()


@dataclass(frozen=True, slots=True)
class Sign:
    """The state of one part of the service.

    `problem` is empty if the part does its work. It names no host, so visitors may read
    it; `advice`, which is for operators, may. `age_s` is the age of the last sign of
    life in seconds, if the part gives signs. Without an `essential` part no game is
    played, or no page is shown.
    """

    part: str
    problem: str = ""
    advice: str = ""
    age_s: float | None = None

    @property
    def is_good(self) -> bool:
        return not self.problem

    @property
    def is_essential(self) -> bool:
        """True if without this part no game is played, or no page is shown."""
        return self.part in ESSENTIAL


def look() -> list[Sign]:
    """Return the sign of every part, essential parts first.

    Without the database the signs of the parts that report through it are missing.
    """
    signs = [_database(), _broker()]
    if signs[0].is_good:
        for look_at in _REPORTED.values():
            with suppress(Error):  # the database has just gone: the next look says so
                signs.append(look_at())
    return [*signs, _disk()]


def is_ready(signs: list[Sign], parts: Sequence[str] = ESSENTIAL) -> bool:
    """True if each of these parts does its work. A part without a sign does not."""
    good = {sign.part for sign in signs if sign.is_good}
    return good.issuperset(parts)


def _database() -> Sign:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except (Error, ImproperlyConfigured):
        connection.close()
        return Sign(
            DATABASE,
            "The database does not answer.",
            "Start it, or correct DATABASE_URL. Everything goes on by itself.",
        )
    return Sign(DATABASE, age_s=0.0)


def _broker() -> Sign:
    try:
        publishing.ping()
    except BROKER_ERRORS:
        return Sign(
            "broker",
            "The message broker does not answer.",
            "Start Redis, or correct BROKER_URL. No game is lost meanwhile.",
        )
    return Sign("broker", age_s=0.0)


def dispatcher() -> Sign:
    """Look at the one process that sends games to workers."""
    row = ServicePart.objects.filter(name=service_parts.DISPATCHER).first()
    if row is None:
        problem, advice, age_s = "No dispatcher is running.", "", None
    else:
        age_s = _seen(ServicePart.objects.filter(pk=row.pk)).age_s()
        problem = advice = ""
        if service_parts.is_silent(row):
            problem = "The dispatcher does not report any more."
            advice = f"It was the process {row.process}. "
    if problem:
        advice += "Start manage.py up, or manage.py schedule beside Celery workers."
        key = log_key()
        problem, advice = key.problem or problem, key.advice or advice
    return Sign("dispatcher", problem, advice, age_s)


def log_key() -> Sign:
    """Look for dispatchers that cannot lead, or take over, without the log's key."""
    rows = ServicePart.objects.filter(name=service_parts.WITHOUT_LOG_KEY)
    row = rows.filter(seen_at__gt=Now() - service_parts.SILENT_AFTER).first()
    if row is None:
        return Sign("log key")
    head = tree.head()
    return Sign(
        "log key",
        "A dispatcher cannot lead: it does not have the key of the public log.",
        f"It is the process {row.process}, and its log names the file. Give it the key"
        f" {head.key if head else ''}; it goes on by itself. docs/operating.md explains"
        " this under Keys, truth and caches.",
    )


def _workers() -> Sign:
    seen = _seen(games.live_players())
    if seen.at is not None:
        return Sign("workers", age_s=seen.age_s())
    return Sign(
        "workers",
        "No worker for games is running.",
        "Start one, or end its drain with manage.py operator undrain.",
    )


def _silent_workers() -> Sign:
    names = [worker.name for worker in games.silent_workers()]
    if not names:
        return Sign("silent workers")
    return Sign(
        "silent workers",
        f"{_counted(len(names), 'worker')} stopped reporting.",
        f"Look at the hosts of {_listed(names)}.",
    )


def _queue() -> Sign:
    waited_s = games.service_state().oldest_waiting_s
    if waited_s is None or waited_s <= MAX_QUEUE_S:
        return Sign("queue", age_s=waited_s)
    return Sign(
        "queue",
        f"A game has waited for {waited_s / 60:.0f} minutes.",
        "Run manage.py status: it says what the games need. Start more workers.",
        waited_s,
    )


def _ratings() -> Sign:
    open_seasons = Season.objects.exclude(status=Season.Status.ARCHIVED)
    lags = [rating_lag_s(season.pk) for season in open_seasons.only("pk")]
    lag_s = max(lags, default=0.0)
    if lag_s <= MAX_RATING_LAG_S:
        return Sign("ratings", age_s=lag_s)
    return Sign(
        "ratings",
        f"A finished game has not been rated for {lag_s:.0f} s.",
        "Run manage.py status: it says what is stopped.",
        lag_s,
    )


def rating_lag_s(season: int) -> float:
    """Return for how many seconds the oldest unrated game of a season has waited."""
    oldest = rater.unrated(season).aggregate(first=Min("finished_at"), now=Max(Now()))
    if oldest["first"] is None:
        return 0.0
    return float((oldest["now"] - oldest["first"]).total_seconds())


def _stopped_units() -> Sign:
    names = [str(unit) for unit in StoppedUnit.objects.all()]
    names += [
        f"a fixture of {f.tournament}" for f in tournaments.fixtures_for_operators()
    ]
    if not names:
        return Sign("units")
    return Sign(
        "units",
        f"{_counted(len(names), 'unit')} of the dispatcher's work stopped.",
        f"Run manage.py status: it says what to do. Stopped: {_listed(names)}.",
    )


def _dead_games() -> Sign:
    dead = Game.objects.filter(status=GameStatus.DEAD).order_by("-pk")
    numbers = list(dead.values_list("pk", flat=True)[: MAX_NAMES + 1])
    if not numbers:
        return Sign("dead games")
    listed = _listed([str(number) for number in numbers])
    return Sign(
        "dead games",
        "The service failed to play some games.",
        f"Read their notes in the admin, repair the cause, and run manage.py operator"
        f" rerun for them. The newest are {listed}.",
    )


def games_by_hand() -> Sign:
    """Look whether people wait for a host that does not run."""
    waiting = practice.waiting_count() or editor.waiting_count()
    if waiting and not practice.host_is_alive():
        return Sign(
            "games by hand",
            "People wait for games by hand, but no host of them is running.",
            "Start manage.py practice, or set TORRES_PRACTICE_SLOTS=0 everywhere.",
        )
    return Sign("games by hand")


def disputed_answers() -> Sign:
    """Look for hosts on which bots answered otherwise than on others."""
    suspects = spot_checks.suspects()
    if not suspects:
        return Sign("spot checks")
    listed = _listed(
        [
            f"{name} (games {_listed([str(game) for game in games])})"
            for name, games in suspects.items()
        ]
    )
    return Sign(
        "spot checks",
        "Bots gave other answers on another host than in their games.",
        f"These hosts are named: {listed}. A host that is named with several others is"
        " wrong, or its bots are slow there: drain it, compare with torres reproduce,"
        " and void its games.",
    )


def _disk() -> Sign:
    free, total = free_bytes()
    if free >= min(MIN_FREE_BYTES, total * MIN_FREE_SHARE):
        return Sign("disk")
    return Sign(
        "disk",
        f"The disk is nearly full: {free >> 20} MiB are free.",
        f"Make room on the disk of {settings.DATA_DIR}, or shorten what is kept"
        " (TORRES_KEEP_…_DAYS) and run manage.py tidy.",
    )


def free_bytes() -> tuple[int, int]:
    """Return the free and all bytes of the disk with the data folder."""
    settings.DATA_DIR.mkdir(parents=True, exist_ok=True)
    usage = shutil.disk_usage(settings.DATA_DIR)
    return usage.free, usage.total


def lost_games() -> Sign:
    """Check that the totals of games add up."""
    missing = TALLY.read().missing
    if not missing:
        return Sign("totals")
    return Sign(
        "totals",
        f"The totals do not add up: {_counted(missing, 'game')} missing.",
        "Run manage.py audit when no game runs.",
    )


def _seen(rows: QuerySet[ServicePart] | QuerySet[Worker]) -> LastSeen:
    seen = rows.aggregate(at=Max("seen_at"), now=Max(Now()))
    return LastSeen(seen["at"], seen["now"])


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _listed(names: list[str]) -> str:
    more = ", and others" if len(names) > MAX_NAMES else ""
    return ", ".join(names[:MAX_NAMES]) + more


_REPORTED: dict[str, Callable[[], Sign]] = {
    "dispatcher": dispatcher,
    "log key": log_key,
    "workers": _workers,
    "silent workers": _silent_workers,
    "queue": _queue,
    "ratings": _ratings,
    "units": _stopped_units,
    "dead games": _dead_games,
    "games by hand": games_by_hand,
    "spot checks": disputed_answers,
}
"""The parts that report through the database, with the functions that look at them."""
PARTS = (DATABASE, "broker", *_REPORTED, "disk")
