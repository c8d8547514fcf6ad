"""The door for Celery: folds finished games."""

from celery import shared_task
from django.db import Error, connection

from ladder.ratings import rater


@shared_task(name="ratings.fold")
def fold(season: int) -> int:
    """Safe to run at any time; a lost run is made up for by the dispatcher's tick."""
    try:
        return rater.fold(season)
    except Error:
        connection.close()
        return 0
