"""The door for Celery: plays a game that a message hints at."""

from celery import shared_task

from ladder.games.worker import registry
from ladder.games.worker.play import play


@shared_task(name="games.play")
def play_game(game: int) -> str:
    """Safe to deliver late, many times or in any order: a claim decides."""
    return play(game, registry.here())
