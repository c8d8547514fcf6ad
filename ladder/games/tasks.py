"""The Celery task that plays games. Its messages are hints."""

from celery import shared_task

from ladder.games.worker import registry
from ladder.games.worker.play import play


@shared_task(name="games.play")
def play_game(game: int) -> str:
    """Play a game if this worker can claim it; return how that ended.

    A message may arrive late, twice or in any order, because the claim decides.
    """
    return play(game, registry.current_worker())
