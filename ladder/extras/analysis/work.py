"""Computes the analyses that wait, one after the other, in a process of its own."""

import json
import math
from datetime import timedelta
from functools import partial

import structlog
from django.db.models import F
from django.db.models.functions import Now

import engine
from engine.turning_points import GAMES, GameAnalysis, WhatIf, analyse, what_if
from ladder.common import leases
from ladder.common.leases import Held
from ladder.extras.analysis import selectors
from ladder.extras.analysis.models import Analysis, AnalysisStatus
from ladder.games import visibility
from ladder.games.models import MAX_REASON_CHARS, Game
from ladder.games.worker.lease_keeper import LeaseKeeper
from torres.common.errors import LadderError

LEASE = timedelta(minutes=10)
"""The process renews it while it computes. After this time it was killed."""
PLAIN_GAMES = 4
"""The games from each position if the engine is not compiled, which is much slower."""
FAILED = "The service failed to compute it. Its operator was informed."

log = structlog.get_logger()


def work_off() -> int:
    """Compute all analyses that wait; return their number."""
    count = 0
    while (analysis := claim()) is not None:
        compute(analysis)
        count += 1
    return count


def claim() -> Analysis | None:
    """Take the oldest analysis that waits, for the time of a lease.

    One that was tried too often fails instead.
    """
    for analysis in selectors.claimable().select_related("game__match"):
        if analysis.attempts >= selectors.MAX_ATTEMPTS:
            _end(analysis, AnalysisStatus.FAILED, note=FAILED)
            continue
        fence = leases.take(
            selectors.claimable(),
            analysis.pk,
            analysis.fence,
            LEASE,
            status=AnalysisStatus.RUNNING,
            attempts=F("attempts") + 1,
        )
        if fence is not None:
            analysis.fence = fence
            return analysis
    return None


def compute(analysis: Analysis) -> None:
    """Compute an analysis and store its result, or why it failed.

    On a busy machine this may take longer than a lease, and then another process would
    do the same work.
    """
    held = Held(selectors.open_rows(), analysis.pk, analysis.fence)
    keeper = LeaseKeeper(
        f"analysis {analysis.pk}", partial(held.renew, LEASE), deadline_s=math.inf
    )
    keeper.start()
    try:
        _compute(analysis)
    finally:
        keeper.close()


def _compute(analysis: Analysis) -> None:
    try:
        document = _document(analysis)
    except LadderError as refusal:  # the game was voided or put under embargo
        _end(analysis, AnalysisStatus.FAILED, note=str(refusal))
    except Exception:  # the one boundary: the next analysis may succeed
        log.exception("analysis failed", analysis=analysis.pk)
        _end(analysis, AnalysisStatus.FAILED, note=FAILED)
    else:
        _end(analysis, AnalysisStatus.FINISHED, document=document)


def _document(analysis: Analysis) -> GameAnalysis | WhatIf:
    game: Game = visibility.games().get(pk=analysis.game_id)
    replay = json.loads(visibility.replay(game))
    games = GAMES if engine.compiled else PLAIN_GAMES
    if analysis.ply is None:
        return analyse(replay, games)
    return what_if(replay, analysis.ply, analysis.line, games)


def _end(
    analysis: Analysis,
    status: AnalysisStatus,
    *,
    note: str = "",
    document: GameAnalysis | WhatIf | None = None,
) -> None:
    Held(selectors.open_rows(), analysis.pk, analysis.fence).update(
        status=status,
        note=note[:MAX_REASON_CHARS],
        document=document,
        ended_at=Now(),
        lease_until=None,
    )
