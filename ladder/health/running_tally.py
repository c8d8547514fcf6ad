"""The tally of all games, from a count of old games and a look at new ones.

`/metrics` and the monitor ask several times a minute, and to count all games takes
12 ms for each 100,000. So old games are counted once an hour. In between, the few old
ones that are not finished are counted, and all others of them are. An old row that is
lost is noticed within that hour.
"""

import time
from typing import Any

from django.db.models import BigIntegerField, Count, Max, Min, Q, Subquery, Sum, Value

from ladder.games import selectors as games
from ladder.games.models import OPEN, Game, GameStatus, Match
from ladder.games.selectors import GameTally

COUNT_INTERVAL_S = 3600.0
NEWEST = 10_000
"""The number of rows that count as new: some may be written at this moment."""
_OTHERS = [status for status in GameStatus.values if status != GameStatus.FINISHED]


class RunningTally:
    """Counts old rows once in COUNT_INTERVAL_S. Each process has one."""

    def __init__(self, newest: int = NEWEST) -> None:
        self._newest = newest
        self._counted_at = float("-inf")
        self._last_game = 0
        self._old_games = 0
        self._last_match = 0
        self._old_planned = 0

    def read(self) -> GameTally:
        """Return the tally, as one statement sees it."""
        now = time.monotonic()
        if now - self._counted_at >= COUNT_INTERVAL_S:
            self._count_old_rows()
            self._counted_at = now
        if not self._last_game:
            return games.tally()
        return self._read()

    def _count_old_rows(self) -> None:
        first_open = Game.objects.filter(status__in=OPEN).aggregate(id=Min("pk"))["id"]
        newest = Game.objects.aggregate(id=Max("pk"))["id"] or 0
        last_game = min(first_open or newest, newest) - self._newest
        self._last_game = max(0, last_game)
        self._old_games = Game.objects.filter(pk__lte=self._last_game).count()
        newest = Match.objects.aggregate(id=Max("pk"))["id"] or 0
        self._last_match = max(0, newest - self._newest)
        old = Match.objects.filter(pk__lte=self._last_match)
        self._old_planned = old.aggregate(n=Sum("planned"))["n"] or 0

    def _read(self) -> GameTally:
        """Count the new games, and the old ones that are not finished."""
        is_old = Q(pk__lte=self._last_game)
        new_matches = Match.objects.filter(pk__gt=self._last_match).order_by()
        one_group: Any = new_matches.annotate(all=Value(1)).values("all")
        planned = one_group.annotate(n=Sum("planned")).values("n")
        rows = (
            Game.objects.filter(Q(status__in=_OTHERS) | ~is_old)
            .order_by()
            .values("status")
            .annotate(
                new=Count("pk", ~is_old),
                old=Count("pk", is_old),
                planned=Subquery(planned, output_field=BigIntegerField()),
                replacements=Subquery(
                    games.replacing_games(), output_field=BigIntegerField()
                ),
            )
            .values_list("status", "new", "old", "planned", "replacements")
        )
        counts = dict.fromkeys(GameStatus.values, 0)
        counts[GameStatus.FINISHED] = self._old_games
        created = 0
        for status, new, old, more, replacements in rows:
            counts[status] += new + old
            counts[GameStatus.FINISHED] -= old
            created = self._old_planned + (more or 0) + (replacements or 0)
        return GameTally(created=created, **counts)


TALLY = RunningTally()
