"""Queries about analyses. Reads only."""

import hashlib
import json
from collections.abc import Sequence
from datetime import timedelta

from django.conf import settings
from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from ladder.accounts.roles import Person
from ladder.common import leases
from ladder.extras.analysis.models import OPEN_ANALYSIS, Analysis, AnalysisStatus
from ladder.games.models import Game

DAY = timedelta(hours=24)
MAX_ATTEMPTS = 3
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
    """Return the analyses that a process can take now, the oldest first.

    A process that was killed leaves one behind that is running without a lease.
    """
    lost = Q(leases.is_over(), status=AnalysisStatus.RUNNING)
    rows = open_rows().filter(Q(status=AnalysisStatus.WAITING) | lost)
    return rows.order_by("pk")


def place_in_queue(analysis: Analysis) -> int:
    """Return the place of an open analysis, from 1."""
    return 1 + open_rows().filter(pk__lt=analysis.pk).count()


def left_today(person: Person) -> int:
    """Return how many analyses a person may still request within 24 hours."""
    most: int = settings.TORRES_ANALYSES_PER_DAY
    recent = Analysis.objects.filter(by=person.pk, created_at__gt=Now() - DAY)
    return max(0, most - recent.count())
