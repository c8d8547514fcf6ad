"""Finds the games that have finished since the last look, among any number of games."""

from datetime import UTC, datetime
from typing import Any

from django.db.models import Prefetch, QuerySet

from ladder.common.fixed_query import FixedQuery, composed
from ladder.games.models import Game, GameStatus, Seat

WINDOW = 200
"""This number of the latest results is looked at. A commit may be late, so that a game
appears below games that finished after it."""
LONG_AGO = datetime.fromtimestamp(0, UTC)


class NewResults:
    """Returns each finished game once. Those that had finished before are left out.

    A game under embargo is returned when the embargo is lifted, if it is still among
    the latest results.
    """

    def __init__(self) -> None:
        self._seen = {pk for (pk,) in _LATEST.rows()}
        newest = _finished().values_list("finished_at", flat=True).first()
        self._newest = newest or LONG_AGO

    def take(self) -> list[Game]:
        """Return the games that finished since the last call, in the order of ids.

        Their seats and bots are read, too.
        """
        window = {pk for (pk,) in _LATEST.rows()}
        unseen = window - self._seen
        if not unseen:
            return []
        if window and not window & self._seen:
            later = _finished().filter(finished_at__gte=self._newest)
            unseen |= set(later.values_list("pk", flat=True)) - self._seen
        rows = Game.objects.filter(pk__in=unseen, match__embargo=False)
        seats = Prefetch("seats", Seat.objects.select_related("bot"))
        rows = rows.defer("replay").prefetch_related(seats)
        games = list(rows.order_by("pk"))
        self._seen = (self._seen & window) | {game.pk for game in games}
        times = [game.finished_at for game in games if game.finished_at]
        self._newest = max([self._newest, *times])
        return games


def _finished() -> QuerySet[Game, Any]:
    return Game.objects.filter(
        status__in=[GameStatus.FINISHED, GameStatus.VOIDED], finished_at__isnull=False
    ).order_by("-finished_at")


def latest(window: int) -> FixedQuery:
    """Return the query of the ids of the latest results."""
    return FixedQuery(lambda: composed(_finished().values_list("pk")[:window]))


_LATEST = latest(WINDOW)
