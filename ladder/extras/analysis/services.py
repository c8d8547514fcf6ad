"""Requests of analyses, of people and of the service itself (stories).

A process beside the dispatcher computes them (`work`).
"""

import json
from collections.abc import Sequence

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models.functions import Now

from engine.errors import EngineError
from engine.turning_points import position_after
from ladder.extras.analysis import selectors, stories
from ladder.extras.analysis.models import Analysis, AnalysisStatus
from ladder.games import visibility
from ladder.games.models import Game
from torres.common.errors import LadderError, TooMany

MAX_WAITING = 200
"""The analyses of all users that may wait at once."""
RETRY_AFTER_S = 600


class BadAnalysis(LadderError, code="bad-analysis", http_status=422):
    """There is no such position in the game, or nothing is to decide there."""


class AnalysisIsOff(LadderError, code="analysis-is-off", http_status=409):
    """This service analyses no games."""


def request_analysis(
    by: User, game: Game, ply: int | None = None, line: Sequence[str] = ()
) -> Analysis:
    """Return the analysis of a game, or of a position after a line.

    The first request lets it wait for a process and counts for the quota. Later ones
    return the same row, unless it failed. Raises NotOver, NoReplay, BadAnalysis,
    AnalysisIsOff, and TooMany.
    """
    key = selectors.key_of(ply, line)
    known = Analysis.objects.filter(game=game, key=key).first()
    if known is not None and known.status != AnalysisStatus.FAILED:
        if known.story and known.is_open:  # it no longer comes after all requests
            Analysis.objects.filter(pk=known.pk).update(story=False)
        return known
    if not settings.TORRES_ANALYSES_PER_DAY:
        raise AnalysisIsOff(
            "This service analyses no games. Download the replay and use: torres"
            " analyse"
        )
    replay = json.loads(visibility.replay(game))
    if ply is not None:
        _check_position(replay, ply, line)
    return _wait(by, game, ply, line)


def add_story() -> bool:
    """Let the next story wait for a process; return False if none may begin.

    Of several processes that do it at once, only one adds a story.
    """
    if not stories.budget_allows() or (game := stories.next_game()) is None:
        return False
    try:
        with transaction.atomic():
            Analysis.objects.create(
                game_id=game, key=selectors.WHOLE_GAME, by=None, story=True
            )
    except IntegrityError:
        return False
    return True


def _check_position(replay: object, ply: int, line: Sequence[str]) -> None:
    try:
        position_after(replay, ply, line)
    except EngineError as error:
        raise BadAnalysis(f"Nothing can be compared there: {error}.") from error


@transaction.atomic
def _wait(by: User, game: Game, ply: int | None, line: Sequence[str]) -> Analysis:
    """Count the request, and store it or the failed one anew."""
    # The lock makes two requests at once count one after the other.
    User.objects.select_for_update().get(pk=by.pk)
    if not selectors.left_today(by):
        raise TooMany(
            f"The limit is {settings.TORRES_ANALYSES_PER_DAY} analyses in 24 hours. Try"
            " again later, or download the replay and use: torres analyse",
            retry_after=RETRY_AFTER_S,
        )
    if selectors.open_rows().count() >= MAX_WAITING:
        raise TooMany(
            f"{MAX_WAITING} analyses are waiting already. Try again later.",
            retry_after=RETRY_AFTER_S,
        )
    values = {
        "by": by,
        "story": False,
        "ply": ply,
        "line": list(line),
        "status": AnalysisStatus.WAITING,
        "attempts": 0,
        "lease_until": None,
        "note": "",
        "created_at": Now(),
        "ended_at": None,
    }
    key = selectors.key_of(ply, line)
    failed = Analysis.objects.filter(game=game, key=key, status=AnalysisStatus.FAILED)
    if not failed.update(**values):
        Analysis.objects.get_or_create(game=game, key=key, defaults=values)
    return Analysis.objects.get(game=game, key=key)
