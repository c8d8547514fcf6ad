"""Queries about analyses. Reads only."""

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import timedelta
from math import ceil

from django.conf import settings
from django.db.models import Q, QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from ladder.accounts.roles import Person
from ladder.common import leases
from ladder.extras.analysis.models import OPEN_ANALYSIS, Analysis, AnalysisStatus
from ladder.games.models import Game

DAY = timedelta(hours=24)
MAX_ATTEMPTS = 3
MEASURED = 50
"""The expected wait follows from this many of the latest analyses."""
WHOLE_GAME = ""
"""The key of the analysis of a whole game."""


def key_of(ply: int | None, line: Sequence[str]) -> str:
    """Return what tells the analyses of a game apart."""
    if ply is None:
        return WHOLE_GAME
    return hashlib.sha256(json.dumps([ply, *line]).encode()).hexdigest()


def visible() -> QuerySet[Analysis]:
    """List the analyses of visible games, newest first."""
    return Analysis.objects.filter(game__match__embargo=False).order_by("-pk")


def whole_game(game: Game) -> Analysis | None:
    """Return the analysis of a game, if somebody has requested it."""
    return Analysis.objects.filter(game=game, key=WHOLE_GAME).first()


def what_if(game: Game, ply: int, line: Sequence[str]) -> Analysis | None:
    """Return the analysis of a position, if somebody has requested it."""
    return Analysis.objects.filter(game=game, key=key_of(ply, line)).first()


def open_rows() -> QuerySet[Analysis]:
    """Return the analyses that wait or are being computed."""
    return Analysis.objects.filter(status__in=OPEN_ANALYSIS)


def waiting() -> QuerySet[Analysis]:
    """Return the analyses that no process has taken yet."""
    return Analysis.objects.filter(status=AnalysisStatus.WAITING)


def claimable() -> QuerySet[Analysis]:
    """Return the analyses that a process can take now, in the order of the queue.

    Requests of people come before stories, and then the oldest first. A process that
    was killed leaves one behind that is running without a lease.
    """
    lost = Q(leases.is_over(), status=AnalysisStatus.RUNNING)
    rows = open_rows().filter(Q(status=AnalysisStatus.WAITING) | lost)
    return rows.order_by("story", "pk")


class Queue:
    """The open analyses, and how long recent ones took on this service.

    With more seats there are more turns, so the time grows with the seats.
    """

    def __init__(self) -> None:
        now = timezone.now()
        columns = ("pk", "ply", "started_at", "status", "game__match__seats")
        rows = open_rows().order_by("story", "pk").values_list(*columns)
        ordered = sorted(rows, key=lambda row: row[3] != AnalysisStatus.RUNNING)
        self._places = {pk: place for place, (pk, *_) in enumerate(ordered, 1)}
        times = _times_of_a_seat()
        self._expected: dict[int, int | None] = {}
        total: timedelta | None = timedelta()
        for pk, ply, started_at, status, seats in ordered:
            time = times.get(ply is None)
            if total is not None and time is not None:
                ran = (
                    now - started_at
                    if status == AnalysisStatus.RUNNING
                    else timedelta()
                )
                total += max(seats * time - ran, timedelta())
            else:
                total = None
            self._expected[pk] = None if total is None else ceil(total.total_seconds())

    def place(self, analysis: Analysis) -> int:
        """Return the place of an open analysis, from 1."""
        return self._places.get(analysis.pk, 1)

    def expected_s(self, analysis: Analysis) -> int | None:
        """Return in how many seconds it ends, if those before it take the usual time.

        None if it is not open, or if nothing like it was measured yet.
        """
        return self._expected.get(analysis.pk)


def _times_of_a_seat() -> dict[bool, timedelta]:
    """Return how long the latest analyses took for each seat of their games.

    The keys are True for whole games, and False for positions.
    """
    ended = Analysis.objects.filter(ended_at__isnull=False).order_by("-ended_at")
    columns = ("status", "ply", "started_at", "ended_at", "game__match__seats")
    took: dict[bool, timedelta] = defaultdict(timedelta)
    all_seats = Counter[bool]()
    latest = ended.values_list(*columns)[:MEASURED]
    for status, ply, started_at, ended_at, seats in latest:
        if status == AnalysisStatus.FINISHED and started_at is not None:
            took[ply is None] += ended_at - started_at
            all_seats[ply is None] += seats
    return {whole: time / all_seats[whole] for whole, time in took.items()}


def left_today(person: Person) -> int:
    """Return how many analyses a person may still request within 24 hours."""
    most: int = settings.TORRES_ANALYSES_PER_DAY
    recent = Analysis.objects.filter(by=person.pk, created_at__gt=Now() - DAY)
    return max(0, most - recent.count())
