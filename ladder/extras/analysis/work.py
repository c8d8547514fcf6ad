"""Computes the analyses that wait, one after the other, in a process of its own."""

import json
import math
import time
from collections.abc import Callable
from datetime import timedelta

import structlog
from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now

import engine
from engine.seat_reviews import ReviewedTurn, review_seats
from engine.turning_points import GAMES, analyse, what_if
from ladder.common import leases
from ladder.common.leases import Held
from ladder.extras.analysis import by_hand, selectors, services, stories
from ladder.extras.analysis.models import Analysis, AnalysisStatus, SeatReview
from ladder.games import visibility
from ladder.games.models import MAX_REASON_CHARS, Game
from ladder.games.worker.lease_keeper import LeaseKeeper
from torres.common.errors import LadderError
from torres.common.pause import pause

LOOK_INTERVAL_S = 0.3
LEASE = timedelta(minutes=10)
"""The process renews it while it computes. After this time it was killed."""
PLAIN_GAMES = 4
"""The games from each position if the engine is not compiled, which is much slower."""
FAILED = "The service failed to compute it. Its operator was informed."

log = structlog.get_logger()


def work_off(stay_s: float = 0.0) -> int:
    """Compute all analyses that wait, then stories within their budget.

    After a request of a person the process stays for ``stay_s`` seconds, because most
    people compare one position after the other, and a new process takes a second or two
    to start. Return how many were computed.
    """
    count = 0
    until = time.monotonic()
    while True:
        stays = time.monotonic() < until
        analysis = claim() if stays else _next()
        if analysis is not None:
            compute(analysis)
            count += 1
            until = until if analysis.story else time.monotonic() + stay_s
        elif stays:
            pause(LOOK_INTERVAL_S)
        else:
            return count


def _next() -> Analysis | None:
    """Take the next analysis. Begin a story only if no analysis waits.

    That of a game by hand comes first, and is computed here.
    """
    if (analysis := claim()) is not None:
        return analysis
    if stories.budget_allows():
        by_hand.tell_next(_games())
    return claim() if services.add_story() else None


def claim() -> Analysis | None:
    """Take the next analysis that waits, for the time of a lease.

    One that was tried too often fails instead.
    """
    for analysis in selectors.claimable().select_related("game__match"):
        if analysis.attempts >= selectors.MAX_ATTEMPTS:
            held = Held(selectors.open_rows(), analysis.pk, analysis.fence)
            held.update(**_end(AnalysisStatus.FAILED, note=FAILED))
            continue
        fence = leases.take(
            selectors.claimable(),
            analysis.pk,
            analysis.fence,
            LEASE,
            status=AnalysisStatus.RUNNING,
            attempts=F("attempts") + 1,
            started_at=Now(),
        )
        if fence is not None:
            analysis.fence = fence
            return analysis
    return None


def compute(analysis: Analysis) -> None:
    """Compute an analysis and store its result, or why it failed.

    On a busy machine this may take longer than a lease, and then another process would
    do the same work. The processor time is stored with each renewal, so that a process
    that is killed has paid for it.
    """
    held = Held(selectors.open_rows(), analysis.pk, analysis.fence)
    began = time.process_time() - analysis.cpu_s

    def store(**values: object) -> bool:
        return held.update(cpu_s=time.process_time() - began, **values)

    keeper = LeaseKeeper(
        f"analysis {analysis.pk}",
        lambda: store(lease_until=Now() + LEASE),
        deadline_s=math.inf,
    )
    keeper.start()
    try:
        values, reviews = _result(analysis, store)
        with transaction.atomic():
            if store(**values):
                SeatReview.objects.bulk_create(reviews)
    finally:
        keeper.close()


def _result(
    analysis: Analysis, store: Callable[..., object]
) -> tuple[dict[str, object], list[SeatReview]]:
    """Return how an analysis ends, and the reviews of the seats of a whole game.

    Estimates of what if are stored at once, so that people see them.
    """
    try:
        game: Game = visibility.games().get(pk=analysis.game_id)
        replay = json.loads(visibility.replay(game))
        games = _games()
        if analysis.ply is not None:
            document = what_if(
                replay,
                analysis.ply,
                analysis.line,
                games,
                on_estimate=lambda estimate: store(document=estimate),
            )
            return _end(AnalysisStatus.FINISHED, document=document), []
        whole = analyse(replay, games)
        reviews = _reviews(analysis, game, review_seats(replay, whole))
        return _end(AnalysisStatus.FINISHED, document=whole), reviews
    except LadderError as refusal:  # the game was voided, or its replay was deleted
        return _end(AnalysisStatus.FAILED, note=str(refusal)[:MAX_REASON_CHARS]), []
    except Exception:  # the one boundary: the next analysis may succeed
        log.exception("analysis failed", analysis=analysis.pk)
        return _end(AnalysisStatus.FAILED, note=FAILED), []


def _games() -> int:
    """Return how many games are played from each position."""
    return GAMES if engine.compiled else PLAIN_GAMES


def _reviews(
    analysis: Analysis, game: Game, by_seat: list[list[ReviewedTurn]]
) -> list[SeatReview]:
    return [
        SeatReview(analysis=analysis, seat=seat.number, bot_id=seat.bot_id, turns=turns)
        for seat, turns in zip(game.seats.all(), by_seat, strict=True)
    ]


def _end(status: AnalysisStatus, **values: object) -> dict[str, object]:
    """Return the columns of an analysis that ends."""
    ended = {"status": status, "ended_at": Now(), "lease_until": None}
    return values | ended
