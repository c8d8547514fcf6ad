"""How fast a worker is: what a house bot needs here for a game that is always the same.

It is the thinking time as bots are charged for it, so a busy host is no slower.
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
from ladder.bots.models import Submission
from ladder.common.errors import LadderError
from ladder.games.models import Worker
from ladder.games.worker.play import OpenPlayer
from ladder.runner.protocol import Limits

BOT = "house-greedy"
SEED = "00" * 16

log = structlog.get_logger()


def run(worker: int, open_player: OpenPlayer) -> None:
    """Measure this host and note it; never raises, since nothing depends on it."""
    try:
        if (ms := measure(open_player)) is not None:
            Worker.objects.filter(pk=worker).update(calibration_ms=ms)
    except (Error, LadderError, EngineError, ServiceFault, OSError) as error:
        log.warning("cannot calibrate", error=str(error))
    finally:
        connection.close()


def measure(open_player: OpenPlayer) -> float | None:
    """Return the milliseconds that the bot is charged; None where it is not there."""
    bots = Submission.objects.filter(
        bot__slug=BOT, status=Submission.Status.READY
    ).select_related("bot")
    bot = bots.order_by("-number").first()
    connection.close()
    if bot is None:
        return None
    rules, limits = resolve("yucata", 2, {}), asdict(Limits())
    outcome = referee.play(
        TorresGame(rules, derive(rules, SEED)),
        [open_player(bot, limits) for _ in range(2)],
        seed=SEED,
        limits=limits,
    )
    if outcome.forfeits:
        return None
    return sum(move.answer.ms for move in outcome.moves if move.answer)
