"""The Celery tasks of workers: play a game, validate an upload, ask a seat again.

Their messages are hints. A hint may arrive late, twice or in any order, because the
rows say what is to be done, and a claim decides who does it.
"""

import time

from celery import shared_task

from ladder.bots import validation
from ladder.extras.spot_checks import work as spot_checks
from ladder.games.worker import registry
from ladder.games.worker.play import RUNNING_GAMES, play
from ladder.games.worker.subscription import validation_paused
from ladder.ratings import selectors


@shared_task(name="games.play")
def play_game(game: int) -> str:
    """Play a game if this worker can claim it; return how that ended."""
    RUNNING_GAMES.hinted_at = time.monotonic()
    return play(game, RUNNING_GAMES.worker or registry.current_worker())


@shared_task(name="bots.build")
def build_submission(submission_id: int, live_hosts: int = 0) -> None:
    """Validate the submission whose turn it is, which may be another one.

    Its bot has to play each form of game of the ladders on which it is. ``live_hosts``
    is the number of hosts that run workers; 0 if it is not known.
    """
    if not validation_paused.is_set():
        validation.run_next(selectors.validation_forms, live_hosts)


@shared_task(name="spot_checks.run")
def check_seat() -> None:
    """Do the spot check whose turn it is, if this host can do one."""
    if not validation_paused.is_set():
        spot_checks.run_next()
