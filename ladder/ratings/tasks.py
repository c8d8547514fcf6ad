"""The Celery task that folds finished games."""

from celery import shared_task
from django.db import Error, connection

from ladder.ratings import rater


@shared_task(name="ratings.fold")
def fold(season: int) -> int:
    """Fold the finished games of a season; return the number of new entries.

    Idempotent. If the database is away, the dispatcher's next tick folds the games.
    """
    try:
        return rater.fold(season)
    except Error:
        connection.close()
        return 0
