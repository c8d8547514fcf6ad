"""The usual duration of each step of an upload, measured on the latest uploads."""

from collections.abc import Sequence
from statistics import median
from typing import Any, NamedTuple

from django.core.cache import cache

from ladder.bots.models import Submission
from ladder.games.models import Game, GameStatus

MEASURED_UPLOADS = 20
MEASURED_GAMES = 20
DURATIONS_TTL_S = 60  # the medians move slowly, and every viewer of an upload asks
PREPARATION = ("unpack", "build")
"""The steps of a report that come before the games of the validation."""


class UsualDurations(NamedTuple):
    """Medians in seconds; None if nothing was measured yet.

    `wait_s` is the time until a worker takes an upload, and `game_s` the time from the
    pairing of a ladder game to its result.
    """

    wait_s: float | None
    build_s: float | None
    validation_s: float | None
    game_s: float | None


def usual_durations(language: str) -> UsualDurations:
    """Return the medians for uploads in a language."""
    key = f"usual-durations:{language}"
    known: UsualDurations | None = cache.get(key)
    if known is None:
        known = _measured(language)
        cache.set(key, known, DURATIONS_TTL_S)
    return known


def _measured(language: str) -> UsualDurations:
    ready = Submission.objects.filter(
        status=Submission.Status.READY, language=language, ready_at__isnull=False
    )
    rows = list(
        ready.order_by("-ready_at").values_list("created_at", "claimed_at", "report")[
            :MEASURED_UPLOADS
        ]
    )
    waits = [
        (claimed - created).total_seconds() for created, claimed, _ in rows if claimed
    ]
    reports = [report for *_, report in rows if report.get("steps")]
    return UsualDurations(
        wait_s=_median(waits),
        build_s=_median([_spent_s(report, is_build=True) for report in reports]),
        validation_s=_median([_spent_s(report, is_build=False) for report in reports]),
        game_s=_median(_game_durations()),
    )


def _spent_s(report: dict[str, Any], *, is_build: bool) -> float:
    """Return the seconds that a validation spent before its games, or in them."""
    return sum(
        (step.get("ms") or 0) / 1000
        for step in report["steps"]
        if (step["name"] in PREPARATION) == is_build
    )


def _game_durations() -> list[float]:
    games = Game.objects.filter(
        status=GameStatus.FINISHED, finished_at__isnull=False
    ).exclude(match__ladder="")
    times = games.order_by("-finished_at").values_list("created_at", "finished_at")
    return [
        (finished - created).total_seconds()
        for created, finished in times[:MEASURED_GAMES]
        if finished is not None
    ]


def _median(values: Sequence[float]) -> float | None:
    return median(values) if values else None
