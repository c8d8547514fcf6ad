"""Calibration: how fast this worker is, measured with one fixed game.

A house bot plays a game that is the same everywhere. The measure is the thinking time
that the clock charges, so a busy host does not look slow.
"""

from dataclasses import asdict

import structlog
from django.db import Error, connection

from engine import referee
from engine.errors import EngineError
from engine.game import TorresGame
from engine.referee import ServiceFault
from engine.rulesets import resolve
from engine.setup import derive
from ladder.bots.models import PRIVATE, Submission
from ladder.games.models import Worker
from ladder.games.worker.play import OpenPlayer
from torres.common.errors import LadderError
from torres.runner.protocol import Limits

BOT_SLUG = "house-greedy"
SEED = "00" * 16
SEATS = 2

log = structlog.get_logger()


def run(worker: int, open_player: OpenPlayer) -> None:
    """Measure this host and store the result in the worker's row.

    Never raises, because no other part of the service depends on the measurement.
    """
    try:
        ms = measure(open_player)
        if ms is not None:
            Worker.objects.filter(pk=worker).update(calibration_ms=ms)
    except (Error, LadderError, EngineError, ServiceFault, OSError) as error:
        log.warning("cannot calibrate", error=str(error))
    finally:
        connection.close()


def measure(open_player: OpenPlayer) -> float | None:
    """Return the charged milliseconds; None if the bot is missing or forfeits."""
    submissions = Submission.objects.filter(
        bot__slug=BOT_SLUG, status=Submission.Status.READY
    ).select_related("bot")
    submission = submissions.defer(*PRIVATE).order_by("-number").first()
    connection.close()
    if submission is None:
        return None
    rules = resolve("yucata", SEATS, {})
    limits = asdict(Limits())
    record = referee.play(
        TorresGame(rules, derive(rules, SEED)),
        [open_player(submission, limits, strict_clock=False) for _ in range(SEATS)],
        seed=SEED,
        limits=limits,
    )
    if record.forfeits:
        return None
    return sum(move.answer.ms for move in record.moves if move.answer)
